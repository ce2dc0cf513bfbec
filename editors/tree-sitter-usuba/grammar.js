/**
 * Usuba for tree-sitter: the grammar of the compiler's parser, one rule for each of its trees.
 *
 *     node f (x:u8) returns (y:u8) let y = x <<< 1 tel
 *
 * The rule of an expression accepts what the parser accepts; types, sizes and names are left to
 * the compiler.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// The lists of words are generated: `cargo xtask bless grammars`.
// generated: keywords
const KEYWORDS = ["node", "returns", "vars", "let", "tel", "perm", "table", "forall", "in", "include", "const", "lazyLift", "Shuffle", "Bitmask", "Pack", "_inline", "_no_inline", "_interleave", "_no_opt", "_lsb_first", "_unroll", "_no_unroll", "_pipelined"];

const NAME = "[A-Za-z_][A-Za-z0-9_']*";
const DECIMAL = "(0|[1-9][0-9]*)";
const DIRECTION = `<([HVBW]|${DECIMAL}|'${NAME})>`;

// The levels of binding, loosest first.
const SHIFT = 1;
const SUM = 2;
const PRODUCT = 3;
const LOGIC = 4;
const POWER = 5;
// An index behind a shift takes all operators of indices.
const INDEX_SUM = 6;
const INDEX_PRODUCT = 7;

/** One or more, with commas between. */
const list = (rule) => seq(rule, repeat(seq(",", rule)));

/** Binary operators of some levels, each a node of one kind. */
const binary = (operand, levels) =>
  choice(
    ...levels.map(([level, ...operators]) =>
      prec.left(
        level,
        seq(
          field("left", operand),
          field("operator", operators.length > 1 ? choice(...operators) : operators[0]),
          field("right", operand),
        ),
      ),
    ),
  );

export default grammar({
  name: "usuba",

  word: ($) => $.identifier,

  reserved: {
    global: () => KEYWORDS,
  },

  extras: ($) => [/[ \t\r\n]/, $.comment],

  // Behind a range a comma begins the range of the next word, or the next parameters.
  conflicts: ($) => [[$.ranges]],

  supertypes: ($) => [$.expression, $.term, $.index],

  rules: {
    source_file: ($) => seq(repeat($._item), optional($.end)),

    _item: ($) =>
      choice(
        $.include,
        $.node_declaration,
        $.node_array,
        $.table_declaration,
        $.table_array,
        $.perm_declaration,
        $.perm_array,
        $.value_declaration,
        $.type_declaration,
      ),

    include: ($) => seq("include", field("path", $.string)),

    option: ($) =>
      choice(
        "_inline",
        "_no_inline",
        "_no_opt",
        "_lsb_first",
        seq("_interleave", "(", $.integer, ")"),
      ),

    node_declaration: ($) =>
      seq(
        repeat($.option),
        "node",
        $._signature,
        repeat($.clause),
        optional($.links),
        field("body", $.body),
      ),

    node_array: ($) =>
      seq(
        repeat($.option),
        "node",
        "[]",
        $._signature,
        "[",
        field("body", $.body),
        repeat(seq(";", field("body", $.body))),
        "]",
      ),

    table_declaration: ($) =>
      seq(repeat($.option), "table", $._signature, field("entries", $.integers)),

    table_array: ($) => seq(repeat($.option), "table", "[]", $._signature, $._lists),

    perm_declaration: ($) =>
      seq(repeat($.option), "perm", $._signature, field("entries", $.integers)),

    perm_array: ($) => seq(repeat($.option), "perm", "[]", $._signature, $._lists),

    _lists: ($) =>
      seq("[", field("entries", $.integers), repeat(seq(";", field("entries", $.integers))), "]"),

    integers: ($) => seq("{", list($.integer), "}"),

    value_declaration: ($) =>
      seq(
        "value",
        field("name", $.identifier),
        field("parameters", $.parameters),
        "=",
        field("value", $.term),
      ),

    type_declaration: ($) =>
      seq("type", field("name", $.identifier), "=", field("type", $.type), optional($.ranges)),

    _signature: ($) =>
      seq(
        field("name", $.identifier),
        field("parameters", $.parameters),
        "returns",
        field("results", alias($.parameters, $.results)),
      ),

    parameters: ($) => seq("(", optional(list($.parameter)), ")"),

    // Several names of one type.
    parameter: ($) =>
      seq(
        list(field("name", $.identifier)),
        ":",
        repeat(choice("const", "lazyLift")),
        field("type", $.type),
        optional(choice("le", "be")),
        optional($.ranges),
      ),

    type: ($) =>
      seq(
        field("word", choice($.identifier, $.type_word)),
        repeat(seq("[", field("length", $.index), "]")),
      ),

    ranges: ($) => seq("in", list($.range)),

    range: ($) => seq("[", field("low", $.term), ",", field("high", $.term), choice(")", "]")),

    clause: ($) =>
      seq(
        choice("requires", "ensures"),
        field("left", $.term),
        choice(
          seq("=", "=", field("right", $.term), optional(seq("mod", field("modulus", $.term)))),
          seq("<", optional("="), field("right", $.term)),
        ),
      ),

    links: ($) => seq("link", list(field("name", $.identifier))),

    body: ($) =>
      seq(optional(field("variables", $.variables)), "let", optional($._statements), "tel"),

    variables: ($) => seq("vars", optional(list($.parameter))),

    // Only an equation needs a semicolon behind it, unless it is the last.
    _statements: ($) =>
      choice(seq($._statements_before, optional($.equation)), $.equation),

    _statements_before: ($) => repeat1(choice(";", seq($.equation, ";"), $.forall)),

    equation: ($) =>
      seq(
        choice(field("target", $.variable), seq("(", list(field("target", $.variable)), ")")),
        optional(field("operator", choice("&", "|", "^", "+", "-", "*", "/", "%"))),
        optional(":"),
        "=",
        field("value", $.expression),
      ),

    forall: ($) =>
      seq(
        repeat(choice("_unroll", "_no_unroll", "_pipelined")),
        "forall",
        field("index", $.identifier),
        "in",
        "[",
        field("from", $.index),
        ",",
        field("to", $.index),
        "]",
        field("body", $.block),
      ),

    block: ($) => seq("{", optional($._statements), "}"),

    variable: ($) => seq(field("name", $.identifier), repeat($.selector)),

    selector: ($) =>
      seq(
        "[",
        choice(list($.index), seq(field("from", $.index), "..", field("to", $.index))),
        "]",
      ),

    // Indices, which are known when the program is compiled.

    index: ($) =>
      choice(
        $.integer,
        alias($._variable_of_index, $.variable),
        $.parenthesized_index,
        $.binary_index,
      ),

    _variable_of_index: ($) => field("name", $.identifier),

    parenthesized_index: ($) => seq("(", $.index, ")"),

    binary_index: ($) =>
      binary($.index, [
        [INDEX_SUM, "+", "-"],
        [INDEX_PRODUCT, "*", "/", "%"],
      ]),

    // Words.

    expression: ($) =>
      choice(
        $.typed_integer,
        $.variable,
        $.tuple,
        $.parenthesized_expression,
        $.shuffle,
        $.bitmask,
        $.pack,
        $.call,
        $.complement,
        $.binary_expression,
        $.shift_expression,
      ),

    typed_integer: ($) => seq($.integer, optional(seq(":", field("type", $.type)))),

    parenthesized_expression: ($) => seq("(", $.expression, ")"),

    tuple: ($) => seq("(", $.expression, repeat1(seq(",", $.expression)), ")"),

    shuffle: ($) =>
      choice(
        seq("Shuffle", "(", $.variable, ",", "[", list($.integer), "]", ")"),
        seq($.variable, field("pattern", $.integers)),
      ),

    bitmask: ($) => seq("Bitmask", "(", $.expression, ",", field("bit", $.index), ")"),

    pack: ($) =>
      seq(
        "Pack",
        "(",
        field("high", $.expression),
        ",",
        field("low", $.expression),
        ")",
        optional(seq(":", field("type", $.type))),
      ),

    call: ($) =>
      seq(
        field("function", choice($.identifier, $.type_word)),
        optional(seq("<", field("instance", $.index), ">")),
        field("arguments", $.arguments),
      ),

    arguments: ($) => seq("(", optional(list($.expression)), ")"),

    complement: ($) => prec(POWER, seq(choice("~", "!"), $.expression)),

    binary_expression: ($) =>
      binary($.expression, [
        [SUM, "+", "-"],
        [PRODUCT, "*", "/", "%"],
        [LOGIC, "&", "|", "^"],
      ]),

    shift_expression: ($) =>
      prec.left(
        SHIFT,
        seq(
          field("left", $.expression),
          field("operator", choice("<<", ">>", ">>!", "<<<", ">>>")),
          field("amount", choice($.index, $.amounts)),
        ),
      ),

    // One amount for each word.
    amounts: ($) => seq("(", $.index, repeat1(seq(",", $.index)), ")"),

    // Integers of contracts.

    term: ($) =>
      choice(
        $.integer,
        alias($._variable_of_term, $.variable),
        $.application,
        $.sum,
        $.parenthesized_term,
        $.binary_term,
      ),

    // `sum` is a word only in front of a parenthesis.
    _variable_of_term: ($) =>
      seq(field("name", choice($.identifier, alias("sum", $.identifier))), repeat($.selector)),

    application: ($) => seq(field("function", $.identifier), "(", list($.term), ")"),

    sum: ($) =>
      seq(
        "sum",
        "(",
        field("index", $.identifier),
        "in",
        "[",
        field("from", $.index),
        ",",
        field("to", $.index),
        "]",
        ",",
        $.term,
        ")",
      ),

    parenthesized_term: ($) => seq("(", $.term, ")"),

    binary_term: ($) =>
      choice(
        binary($.term, [
          [SUM, "+", "-"],
          [PRODUCT, "*", "/"],
        ]),
        prec.right(
          POWER,
          seq(field("left", $.term), field("operator", "^"), field("right", $.term)),
        ),
      ),

    // Tokens.

    identifier: () => new RegExp(NAME),

    // A type word with a direction; the others are identifiers.
    type_word: () =>
      token(
        choice(
          new RegExp(`u${DIRECTION}${DECIMAL}(x${DECIMAL})?`),
          new RegExp(`u${DIRECTION}'${NAME}`),
          new RegExp(`[bv]${DIRECTION}${DECIMAL}`),
        ),
      ),

    integer: () => /0x[0-9a-fA-F]+|0b[01]+|[0-9]+/,

    string: () => /"[^"\n]+"/,

    comment: () => token(choice(/#[^\n]*/, /\/\/[^\n]*/)),

    // The compiler ignores the text behind the marker.
    end: () => token(prec(1, /__END__([^A-Za-z0-9_'](.|\n)*)?/)),
  },
});
