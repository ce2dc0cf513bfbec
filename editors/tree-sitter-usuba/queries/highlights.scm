; Every token belongs to one pattern, so that the order of patterns has no effect.

(comment) @comment
(end) @comment
(string) @string
(integer) @number

; generated: keywords
["node" "returns" "vars" "let" "tel" "perm" "table" "forall" "in" "include" "const" "lazyLift" "Shuffle" "Bitmask" "Pack" "_inline" "_no_inline" "_interleave" "_no_opt" "_lsb_first" "_unroll" "_no_unroll" "_pipelined"] @keyword
; generated: contextual words of the grammar
["value" "type" "link" "requires" "ensures" "mod" "sum" "le" "be"] @keyword

[
  "=" ":" "<" ">" ".." "&" "|" "^" "~" "!" "+" "-" "*" "/" "%" "<<" ">>" ">>!" "<<<" ">>>"
] @operator
[";" ","] @punctuation.delimiter
["(" ")" "[" "]" "{" "}" "[]"] @punctuation.bracket

; Types.

(type_word) @type.builtin
(type
  word: (identifier) @type.builtin
  (#match? @type.builtin "^([ubv][0-9]|u'|nat$)"))
(type
  word: (identifier) @type
  (#not-match? @type "^([ubv][0-9]|u'|nat$)"))
(type_declaration name: (identifier) @type)

; Functions.

(node_declaration name: (identifier) @function)
(node_array name: (identifier) @function)
(table_declaration name: (identifier) @function)
(table_array name: (identifier) @function)
(perm_declaration name: (identifier) @function)
(perm_array name: (identifier) @function)
(value_declaration name: (identifier) @function)
(links name: (identifier) @function)
(application function: (identifier) @function)
(call
  function: (identifier) @function.builtin
  ; generated: functions
  (#any-of? @function.builtin "refresh" "wrap" "split" "less" "mulhigh" "clmul" "clmulhigh"))
(call
  function: (identifier) @function
  ; generated: all other functions
  (#not-any-of? @function "refresh" "wrap" "split" "less" "mulhigh" "clmul" "clmulhigh")
  (#not-match? @function "^u([0-9]+$|')"))
(call
  function: (identifier) @type.builtin
  (#match? @type.builtin "^u([0-9]+$|')"))

; Variables.

(parameters (parameter name: (identifier) @variable.parameter))
(results (parameter name: (identifier) @variable.parameter))
(variables (parameter name: (identifier) @variable))
(variable name: (identifier) @variable)
(forall index: (identifier) @variable)
(sum index: (identifier) @variable)
