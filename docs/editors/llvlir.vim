" Vim syntax for LLVLIR text (.llvlirs). Put it into ~/.vim/syntax/, and into ~/.vim/ftdetect/llvlir.vim:
"   autocmd BufRead,BufNewFile *.llvlirs setfiletype llvlir
if exists("b:current_syntax")
  finish
endif
syntax match llvlirComment ";.*$" contains=@Spell
syntax region llvlirString start=+h\="+ skip=+\\.+ end=+"+ oneline
syntax match llvlirRegister "%[xma]\=\d\+"
syntax match llvlirNumber "-\=\<\(0x\x\+\|\d\+\)\>"
syntax keyword llvlirKeyword llvlir in out
syntax match llvlirOperation "\(^\|=\)\s*\zs[a-z][a-z0-9_]*\(\.[a-z0-9_]\+\)*\ze\(\s\|$\)" contains=llvlirType,llvlirKeyword
syntax match llvlirType "\<\(iv\=\d\+\|v\d\+\|m\d\+\|local\|global\)\>" contained
syntax match llvlirPort ":\s*\zs\(iv\=\d\+\|v\d\+\.iv\=\d\+\|m\d\+\)"
syntax keyword llvlirCompare fa eq lt le gt ge ne tr ltu leu gtu geu
highlight default link llvlirComment Comment
highlight default link llvlirString String
highlight default link llvlirRegister Identifier
highlight default link llvlirNumber Number
highlight default link llvlirKeyword Keyword
highlight default link llvlirOperation Function
highlight default link llvlirType Type
highlight default link llvlirPort Type
highlight default link llvlirCompare Constant
let b:current_syntax = "llvlir"
