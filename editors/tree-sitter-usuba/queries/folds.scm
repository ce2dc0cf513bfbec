[
  (node_declaration)
  (node_array)
  (table_declaration)
  (table_array)
  (perm_declaration)
  (perm_array)
  (value_declaration)
  (forall)
] @fold
