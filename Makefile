# The two commands of this repository, and a few more. Each is one script or one cargo command,
# so that it also runs without make.

.PHONY: help demo test test-all bench peers book explorer tidy bless setup install uninstall archive

help:
	@echo 'make demo      compile two ciphers for every target here, check them, show their speed'
	@echo 'make test      everything that a change must pass'
	@echo 'make test-all  all tests at full length; goes on where an earlier run stopped'
	@echo 'make bench     cycles per byte of every cipher on this processor'
	@echo 'make peers     our ciphers and those of other libraries by turns'
	@echo 'make book      the book as HTML in target/book'
	@echo 'make explorer  the compiler as a page, in target/explorer'
	@echo 'make install   the program, manual pages and completions into PREFIX, below DESTDIR'
	@echo 'make uninstall removes them'
	@echo 'make archive   the archive of a release, with its checksum, in target/archive'
	@echo 'make tidy      the house rules only'
	@echo 'make bless     rewrite all that follows from tables and tests'

setup:
	@scripts/setup

demo: setup
	@cargo run --release --package usubac -- demo

test: setup
	@scripts/test

test-all: setup
	@scripts/test whole

bench: setup
	@cargo run --quiet --release --package usubac -- bench

peers:
	@scripts/peers

book:
	@scripts/book

install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install --remove

archive:
	@scripts/archive

explorer: setup
	@scripts/explorer

tidy:
	@cargo xtask tidy

bless:
	@cargo xtask bless
