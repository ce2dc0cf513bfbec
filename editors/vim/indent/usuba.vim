" Usuba: lines as `usubac fmt` indents them.
"
"     node f (x:u8)
"         returns (y:u8)
"     vars t: u8,
"          s: u8
"     let
"       forall i in [0,3] {
"         y = x
"       }
"     tel
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=UsubaIndent(v:lnum) indentkeys=0{,0},0),0],!^F,o,O,0=tel,0=let,0=vars,0=node,0=table,0=perm
setlocal nosmartindent nocindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< smartindent< cindent<'

if exists('*UsubaIndent')
  finish
endif

" The first words of a declaration, and the operators with which an equation goes on.
let s:declaration = '^\%(_\w\+\%(([^)]*)\)\?\s\+\)*\%(\%(node\|table\|perm\|include\)\>\|\%(type\|value\)\s\+\h\)'
let s:operator = '^\%([-&|^+*/<>]\|==\|mod\>\)'

" A line without its comment and outer blanks.
function s:Code(number)
  return trim(substitute(getline(a:number), '\%(#\|//\).*$', '', ''))
endfunction

" The last line before another one that is not empty and not a comment alone; 0 if there is none.
function s:Before(number)
  let l:number = prevnonblank(a:number - 1)
  while l:number > 0 && empty(s:Code(l:number))
    let l:number = prevnonblank(l:number - 1)
  endwhile
  return l:number
endfunction

" Line and byte of the bracket that is open where a line begins; zeros if there is none.
function s:Open(number)
  let l:depth = 0
  let l:number = s:Before(a:number)
  while l:number > 0 && a:number - l:number < 200
    let l:code = repeat(' ', indent(l:number)) . s:Code(l:number)
    for l:at in range(len(l:code) - 1, 0, -1)
      if l:code[l:at] =~# '[])}]'
        let l:depth += 1
      elseif l:code[l:at] =~# '[[({]'
        let l:depth -= 1
        if l:depth < 0
          return [l:number, l:at, l:code]
        endif
      endif
    endfor
    if l:code =~# '\<\%(let\|tel\)$' && s:Code(a:number) !~# '^]'
      break
    endif
    let l:number = s:Before(l:number)
  endwhile
  return [0, 0, '']
endfunction

" The first line of the equation, list or signature that a line belongs to.
function s:Start(number)
  let l:number = a:number
  while 1
    let [l:line, l:at, l:code] = s:Open(l:number)
    if l:line > 0 && l:at + 1 < len(l:code)
      let l:number = l:line
    elseif (s:Code(l:number) =~# s:operator || s:Code(s:Before(l:number)) =~# '=$') && s:Before(l:number) > 0
      let l:number = s:Before(l:number)
    else
      return l:number
    endif
  endwhile
endfunction

" The indentation of the declaration or alternative around a line.
function s:Head(number)
  let l:number = a:number
  while l:number > 0 && s:Code(l:number) !~# s:declaration . '\|^\%(vars\|let\)\>'
    let l:number = s:Before(l:number)
  endwhile
  return l:number > 0 ? indent(l:number) : 0
endfunction

function UsubaIndent(number)
  let l:code = s:Code(a:number)
  if empty(l:code) && getline(a:number) =~# '\S'
    " A comment stays where it is.
    return -1
  endif
  let l:last = s:Before(a:number)
  if l:last == 0 || l:code =~# s:declaration
    return 0
  endif
  let [l:line, l:at, l:text] = s:Open(a:number)
  if l:line > 0
    let l:closes = l:code =~# '^[])}]'
    if l:at + 1 == len(l:text)
      let l:inner = indent(s:Start(l:line)) + (l:closes ? 0 : shiftwidth())
      if l:closes || l:code =~# '^\%(vars\|let\)\>' || s:Code(l:last) =~# '[[{(;]$'
        return l:inner
      endif
    elseif l:text =~# s:declaration && l:text[l:at] ==# '('
      return 2 * shiftwidth()
    elseif l:at > 0 && l:text[l:at - 1] =~# "[[:alnum:]_']"
      return indent(s:Start(l:line)) + 2 * shiftwidth()
    else
      return l:closes ? l:at : matchend(l:text, '\s*', l:at + 1)
    endif
  endif
  let l:before = s:Code(l:last)
  if l:code =~# '^\%(vars\|let\|tel\)\>'
    return s:Head(l:last)
  elseif l:code =~# '^\%(requires\|ensures\|link\)\>'
    return s:Head(l:last)
  elseif l:code =~# '^returns\>' || l:before =~# '^type\>.*,$'
    return s:Head(l:last) + 2 * shiftwidth()
  elseif l:before =~# '^vars\>.*,$'
    return indent(l:last) + 5
  elseif l:before =~# '\<let$' || l:before =~# '^\%(_\w\+\s.*\)\?\%(table\|perm\)\>[^{]*$'
    return indent(s:Start(l:last)) + shiftwidth()
  elseif l:code =~# s:operator && l:before !~# s:operator
    " An equation goes on.
    return indent(s:Start(l:last)) + 2 * shiftwidth()
  elseif l:before =~# '=$'
    return indent(l:last) + 2 * shiftwidth()
  elseif l:code =~# s:operator || l:before =~# ',$'
    return indent(l:last)
  endif
  return indent(s:Start(l:last))
endfunction
