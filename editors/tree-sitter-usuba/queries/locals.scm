; Parameters and locals belong to their declaration, indices to their loop or sum.

(node_declaration) @local.scope
(node_array) @local.scope
(value_declaration) @local.scope
(body) @local.scope
(forall) @local.scope
(sum) @local.scope

(node_declaration name: (identifier) @local.definition.function)
(node_array name: (identifier) @local.definition.function)
(table_declaration name: (identifier) @local.definition.function)
(table_array name: (identifier) @local.definition.function)
(perm_declaration name: (identifier) @local.definition.function)
(perm_array name: (identifier) @local.definition.function)
(value_declaration name: (identifier) @local.definition.function)
(type_declaration name: (identifier) @local.definition.type)
(parameters (parameter name: (identifier) @local.definition.parameter))
(results (parameter name: (identifier) @local.definition.parameter))
(variables (parameter name: (identifier) @local.definition.var))
(forall index: (identifier) @local.definition.var)
(sum index: (identifier) @local.definition.var)

(variable name: (identifier) @local.reference)
(call function: (identifier) @local.reference)
(application function: (identifier) @local.reference)
(links name: (identifier) @local.reference)
(type word: (identifier) @local.reference)
