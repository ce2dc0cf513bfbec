" Comments, indentation, and `:make` with the places of findings.
setlocal commentstring=#\ %s comments=:#,:// shiftwidth=2 expandtab
setlocal makeprg=usubac\ check\ --error-format\ short\ %:S
setlocal errorformat=%f:%l:%c:\ %trror[%.%#]:\ %m,%f:%l:%c:\ %tarning[%.%#]:\ %m
