autocmd BufRead,BufNewFile *.ua setfiletype usuba
