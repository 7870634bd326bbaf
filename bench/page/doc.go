// Package page keeps the parts of a Markdown document that a program writes apart
// from those that people write.
//
// Such a part is a block between two comments on lines of their own. The first
// names the kind of the block and, behind a colon, an argument:
//
//	<!-- claims: ^codec: -->
//	what the program wrote
//	<!-- end -->
//
// [Replace] gives the blocks of one kind new contents and touches nothing else.
package page
