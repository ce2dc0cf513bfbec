" Usuba. The lists of words are generated: `cargo xtask bless grammars`.
if exists('b:current_syntax')
  finish
endif

syntax iskeyword @,48-57,_,'
" generated: keywords
syntax keyword usubaKeyword node returns vars let tel perm table forall in include const lazyLift Shuffle Bitmask Pack _inline _no_inline _interleave _no_opt _lsb_first _unroll _no_unroll _pipelined
" generated: names with a meaning in some places
syntax keyword usubaContextual value type link requires ensures mod sum le be nat
" generated: functions
syntax keyword usubaFunction refresh wrap split less mulhigh clmul clmulhigh
syntax match usubaType /\<[ubv]\(<[^>]*>\)\?\('\?\w\+\)\>/
syntax match usubaNumber /\<\(0x\x\+\|0b[01]\+\|\d\+\)\>/
syntax region usubaString start=/"/ end=/"/ oneline
syntax match usubaComment /\(#\|\/\/\).*$/

highlight default link usubaKeyword Keyword
highlight default link usubaContextual Special
highlight default link usubaFunction Function
highlight default link usubaType Type
highlight default link usubaNumber Number
highlight default link usubaString String
highlight default link usubaComment Comment

let b:current_syntax = 'usuba'
