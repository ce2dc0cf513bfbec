//! The grammar of a file and of its declarations: signatures, tables, permutations.

use super::*;

pub(super) const DECL_WORDS: &[&str] = &[
    "node",
    "table",
    "perm",
    "include",
    "_inline",
    "_no_inline",
    "_interleave",
    "_no_opt",
    "_lsb_first",
];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut items = Vec::new();
        while self.token.tok != Tok::End {
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => self.skip_to_decl(),
            }
        }
        File { items }
    }

    fn skip_to_decl(&mut self) {
        while self.token.tok != Tok::End && !self.at_any(DECL_WORDS) {
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.token.span;
        if self.eat("include") {
            if self.token.tok != Tok::Str {
                return Err(self.unexpected(
                    "a file name in quotes after `include`",
                    "write for example `include \"aes.ua\"`",
                ));
            }
            let quoted = self.bump().span;
            let path = &self.text[quoted.start as usize + 1..quoted.end as usize - 1];
            return Ok(Item::Include { path: path.to_string(), span: self.span_from(start) });
        }
        let mut opts = Vec::new();
        loop {
            opts.push(match self.word() {
                "_inline" => DeclOpt::Inline,
                "_no_inline" => DeclOpt::NoInline,
                "_no_opt" => DeclOpt::NoOpt,
                "_lsb_first" => DeclOpt::LsbFirst,
                "_interleave" => {
                    self.bump();
                    self.expect("(", "`(` after `_interleave`", "write `_interleave(2)`")?;
                    let grain = self.integer("a number", "write `_interleave(2)`")?;
                    if !self.at(")") {
                        return Err(self.unexpected("`)`", "write `_interleave(2)`"));
                    }
                    DeclOpt::Interleave(grain)
                }
                _ => break,
            });
            self.bump();
        }
        if opts.is_empty() && self.at_name("value") {
            return self.value(start).map(Item::Decl);
        }
        if opts.is_empty() && self.at_name("type") {
            return self.named_type(start).map(Item::Decl);
        }
        let kind = match self.word() {
            kind @ ("node" | "table" | "perm") => kind,
            _ => return Err(self.no_declaration(!opts.is_empty())),
        };
        self.bump();
        self.decl(start, opts, kind).map(Item::Decl)
    }

    fn no_declaration(&mut self, after_option: bool) -> Stop {
        if after_option {
            return self.unexpected(
                "`node`, `table` or `perm`",
                "options such as `_inline` stand before a declaration",
            );
        }
        let help = match self.word() {
            "tel" | "let" | "vars" => {
                "a body follows `node name (...) returns (...)`; is one \
                                       `tel` too much?"
            }
            _ => hints::declaration(self.text_of(self.token.span))
                .unwrap_or("a program is a list of `node`, `table` and `perm` declarations"),
        };
        let near = self.near(DECL_WORDS.iter().copied().chain(["value", "type"]));
        self.unexpected("a declaration", near.as_deref().unwrap_or(help))
    }

    fn decl(&mut self, start: Span, opts: Vec<DeclOpt>, kind: &'static str) -> Parsed<Decl> {
        let array = self.eat("[]");
        if self.at("[") {
            return Err(self.unexpected("a name", "write `[]` without a blank between"));
        }
        let name = self.ident(&format!("the name of the {kind}"))?;
        let params = self.signature_part("the parameters in parentheses")?;
        let help = match self.word() {
            "-" => "write `returns` in place of `->`",
            _ => "a declaration reads `node name (a:u32) returns (b:u32)`",
        };
        self.expect("returns", "`returns` and the results", help)?;
        let results = self.signature_part("the results in parentheses")?;
        let contract = self.contract()?;
        let links = self.links()?;
        let clauses = contract.first().map(|clause| ("a contract", clause.span));
        let clause = clauses.or(links.as_ref().map(|links| ("links", links.span)));
        if let Some((noun, span)) = clause.filter(|_| array || kind != "node") {
            let text = format!("{noun} of a {kind}{}", if array { "[]" } else { "" });
            let help = "only single nodes have contracts and links; call it from one";
            self.report(Diagnostic::error(Code::UnexpectedToken, span, text).help(help));
        }
        let kind = match (kind, array) {
            ("node", false) => DeclKind::Node(self.body()?),
            ("node", true) => DeclKind::NodeArray(self.alternatives("node", Self::body)?),
            ("table", false) => DeclKind::Table(self.int_list()?),
            ("table", true) => DeclKind::TableArray(self.alternatives("table", Self::int_list)?),
            (_, false) => DeclKind::Perm(self.int_list()?),
            (_, true) => DeclKind::PermArray(self.alternatives("perm", Self::int_list)?),
        };
        let span = self.span_from(start);
        let is_standard = false;
        Ok(Decl { opts, name, params, results, contract, links, kind, span, is_standard })
    }

    fn alternatives<T>(
        &mut self,
        kind: &str,
        one: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let help = format!("the alternatives of `{kind}[]` are written `[ ... ; ... ]`");
        self.expect("[", "`[` before the alternatives", &help)?;
        let mut all = vec![one(self)?];
        while self.eat(";") {
            all.push(one(self)?);
        }
        self.expect("]", "`;` or `]` after an alternative", &help)?;
        Ok(all)
    }

    fn int_list(&mut self) -> Parsed<IntList> {
        let start = self.token.span;
        let help = match self.word() {
            "[" => "several lists need `[]` after `table` or `perm`",
            _ => "a table or perm is a list of numbers: `{1,0,3,2}`",
        };
        self.expect("{", "`{` and a list of numbers", help)?;
        let values = self.integers("}")?;
        Ok(IntList { values, span: self.span_from(start) })
    }

    /// One or more numbers and the closing mark.
    pub(super) fn integers(&mut self, close: &str) -> Parsed<Vec<u64>> {
        let mut values = Vec::new();
        loop {
            let help = if self.at(close) && !values.is_empty() {
                "remove the comma after the last number"
            } else {
                "only plain numbers can stand in this list"
            };
            values.push(self.integer("a number", help)?);
            if !self.eat(",") {
                let wanted = format!("`,` or `{close}`");
                self.expect(close, &wanted, "numbers in a list are separated by `,`")?;
                return Ok(values);
            }
        }
    }

    fn integer(&mut self, wanted: &str, help: &str) -> Parsed<u64> {
        match self.token.tok {
            Tok::Int(value) => Ok(self.number(value)),
            _ => Err(self.unexpected(wanted, help)),
        }
    }

    /// The number of the current token, which is not one of a contract and has 64 bits at most.
    pub(super) fn number(&mut self, value: u128) -> u64 {
        let span = self.bump().span;
        u64::try_from(value).unwrap_or_else(|_| {
            let message = "this number is larger than 2^64-1";
            let error = Diagnostic::error(Code::BadInteger, span, message);
            self.report(error.help("split the constant into several words"));
            0
        })
    }

    pub(super) fn ident(&mut self, wanted: &str) -> Parsed<Ident> {
        if self.token.tok != Tok::Ident {
            let help = match self.token.tok {
                Tok::Word(w) if w.starts_with(char::is_alphabetic) || w.starts_with('_') => {
                    "keywords cannot be names; choose another one"
                }
                _ => "",
            };
            return Err(self.unexpected(wanted, help));
        }
        let span = self.bump().span;
        Ok(Ident { name: self.text_of(span).to_string(), span })
    }

    pub(super) fn signature_part(&mut self, wanted: &str) -> Parsed<Vec<ParamGroup>> {
        self.expect("(", wanted, "write them as `(a,b:u32, c:u8[4])`")?;
        let groups = self.param_groups(")")?;
        self.expect(")", "`,` or `)`", "parameters are separated by `,`")?;
        Ok(groups)
    }

    /// Zero or more groups up to, but without, the closing word.
    pub(super) fn param_groups(&mut self, close: &str) -> Parsed<Vec<ParamGroup>> {
        let mut groups = Vec::new();
        if self.at(close) {
            return Ok(groups);
        }
        loop {
            let mut names = vec![self.ident("a name")?];
            while self.eat(",") {
                names.push(self.ident("a name after `,`")?);
            }
            self.expect(":", "`:` and a type", "every name has a type: `a,b:u32`")?;
            let (mut is_const, mut lazy_lift) = (false, false);
            loop {
                match self.word() {
                    "const" => is_const = true,
                    "lazyLift" => lazy_lift = true,
                    _ => break,
                }
                self.bump();
            }
            let ty = self.ty()?.tree;
            let order = ByteOrder::ALL.into_iter().find(|order| self.at_name(order.word()));
            let bytes = order.map(|order| (order, self.bump().span));
            let (ranges, more) = self.ranges()?;
            groups.push(ParamGroup { names, is_const, lazy_lift, ty, bytes, ranges });
            if !more {
                return Ok(groups);
            }
        }
    }
}
