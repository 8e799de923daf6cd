//! Texts that match a regular expression.
//!
//! `regex-syntax` parses the expression. Characters, classes, groups, alternatives and repetitions are supported.
//! Classes contain printable ASCII and the characters that they name; `*` and `+` repeat up to eight times more than
//! they must.

use super::template::{self, Node};
use super::{Arguments, Generator};
use litepress_rows::{Error, Result};
use regex_syntax::ast::{
    AssertionKind, Ast, ClassAsciiKind, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetBinaryOpKind,
    ClassSetItem, RepetitionKind, RepetitionRange, Span, parse::Parser,
};

/// Maximum extra repetitions of `*`, `+` and `{n,}`.
const MORE: u32 = 8;

/// Limits: bytes of a text, and characters of a class.
const LONGEST: u64 = 1 << 20;
const WIDEST: usize = 10_000;

/// Builds `regex('...')`.
pub(super) fn regex(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(template::random(node(arguments)?))
}

/// Builds `unique_regex('...')`.
pub(super) fn unique_regex(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    template::unique(node(arguments)?, || {
        let message = "the same text can be matched in several ways, and so repeat in several rows";
        arguments.error_at("regex", message).advise("write it so that the next character always decides the match")
    })
}

fn node(arguments: &Arguments<'_>) -> Result<Node> {
    let text = arguments.text("regex")?;
    let compiler = Compiler { arguments };
    let ast = match Parser::new().parse(&text) {
        Ok(ast) => ast,
        Err(error) => return Err(compiler.reject(error.span(), &error.kind().to_string())),
    };
    compiler.node(&ast)
}

struct Compiler<'a> {
    arguments: &'a Arguments<'a>,
}

impl Compiler<'_> {
    fn reject(&self, span: &Span, message: &str) -> Error {
        self.arguments.error_in_text("regex", span.start.offset, message)
    }

    fn node(&self, ast: &Ast) -> Result<Node> {
        let nodes = |asts: &[Ast]| asts.iter().map(|ast| self.node(ast)).collect::<Result<Vec<Node>>>();
        let node = match ast {
            Ast::Empty(_) => Node::fixed(""),
            Ast::Literal(literal) => Node::fixed(&literal.c.to_string()),
            Ast::Dot(_) => of_class(&printable()),
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartLine
                | AssertionKind::EndLine
                | AssertionKind::StartText
                | AssertionKind::EndText => Node::fixed(""),
                _ => return Err(self.reject(&assertion.span, "only ^ and $ are supported of the assertions")),
            },
            Ast::ClassPerl(perl) => of_class(&perl_class(perl)),
            Ast::ClassBracketed(class) => {
                let characters = self.bracketed(class)?;
                if characters.is_empty() {
                    return Err(self.reject(&class.span, "this class has no character"));
                }
                of_class(&characters)
            }
            Ast::Repetition(repetition) => {
                let (min, max) = times(&repetition.op.kind);
                if u64::from(max) > LONGEST {
                    return Err(self.reject(&repetition.op.span, "this repeats more than a million times"));
                }
                repeated(self.node(&repetition.ast)?, u64::from(min), u64::from(max))
            }
            Ast::Group(group) => self.node(&group.ast)?,
            Ast::Concat(concat) => Node::sequence(nodes(&concat.asts)?),
            Ast::Alternation(alternation) => Node::OneOf(nodes(&alternation.asts)?),
            Ast::Flags(flags) => return Err(self.reject(&flags.span, "flags are not supported")),
            Ast::ClassUnicode(class) => {
                return Err(self.reject(&class.span, "classes by Unicode properties are not supported"));
            }
        };
        if node.longest() > LONGEST {
            return Err(self.reject(ast.span(), "the texts are longer than a million bytes"));
        }
        Ok(node)
    }

    /// Returns the characters of a class, in order.
    fn bracketed(&self, class: &ClassBracketed) -> Result<Vec<char>> {
        let characters = self.set(&class.kind)?;
        Ok(if class.negated { without(&printable(), &characters) } else { characters })
    }

    fn set(&self, set: &ClassSet) -> Result<Vec<char>> {
        match set {
            ClassSet::Item(item) => self.item(item),
            ClassSet::BinaryOp(op) => {
                let (left, right) = (self.set(&op.lhs)?, self.set(&op.rhs)?);
                let only_left = without(&left, &right);
                Ok(match op.kind {
                    ClassSetBinaryOpKind::Difference => only_left,
                    ClassSetBinaryOpKind::Intersection => without(&left, &only_left),
                    ClassSetBinaryOpKind::SymmetricDifference => sorted([only_left, without(&right, &left)].concat()),
                })
            }
        }
    }

    fn item(&self, item: &ClassSetItem) -> Result<Vec<char>> {
        Ok(match item {
            ClassSetItem::Empty(_) => Vec::new(),
            ClassSetItem::Literal(literal) => vec![literal.c],
            ClassSetItem::Range(range) => {
                let characters: Vec<char> = (range.start.c..=range.end.c).take(WIDEST + 1).collect();
                if characters.len() > WIDEST {
                    return Err(self.reject(&range.span, "this class has more than 10000 characters"));
                }
                characters
            }
            ClassSetItem::Ascii(ascii) => {
                let has = |&character: &char| is_of(&ascii.kind, character) != ascii.negated;
                printable().into_iter().filter(has).collect()
            }
            ClassSetItem::Perl(perl) => perl_class(perl),
            ClassSetItem::Bracketed(class) => self.bracketed(class)?,
            ClassSetItem::Union(union) => {
                let items = union.items.iter().map(|item| self.item(item)).collect::<Result<Vec<_>>>()?;
                sorted(items.concat())
            }
            ClassSetItem::Unicode(class) => {
                return Err(self.reject(&class.span, "classes by Unicode properties are not supported"));
            }
        })
    }
}

fn of_class(characters: &[char]) -> Node {
    Node::one_of(&characters.iter().map(char::to_string).collect::<Vec<_>>())
}

/// Repeats a node. A fixed number of a short list is written out, so that neighbours can be fused into one list.
fn repeated(node: Node, min: u64, max: u64) -> Node {
    const WRITTEN_OUT: u64 = 32;
    if min == max && max <= WRITTEN_OUT && matches!(node, Node::List(_)) {
        return Node::sequence((0..max).map(|_| node.clone()).collect());
    }
    Node::Repeat { node: Box::new(node), min, max }
}

fn times(kind: &RepetitionKind) -> (u32, u32) {
    match kind {
        RepetitionKind::ZeroOrOne => (0, 1),
        RepetitionKind::ZeroOrMore => (0, MORE),
        RepetitionKind::OneOrMore => (1, 1 + MORE),
        RepetitionKind::Range(RepetitionRange::Exactly(times)) => (*times, *times),
        RepetitionKind::Range(RepetitionRange::AtLeast(min)) => (*min, min.saturating_add(MORE)),
        RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (*min, *max),
    }
}

fn printable() -> Vec<char> {
    (' '..='~').collect()
}

fn perl_class(class: &ClassPerl) -> Vec<char> {
    let is_in_class = |character: char| match class.kind {
        ClassPerlKind::Digit => character.is_ascii_digit(),
        ClassPerlKind::Space => character == ' ',
        ClassPerlKind::Word => character.is_ascii_alphanumeric() || character == '_',
    };
    printable().into_iter().filter(|&character| is_in_class(character) != class.negated).collect()
}

fn is_of(kind: &ClassAsciiKind, c: char) -> bool {
    match kind {
        ClassAsciiKind::Alnum => c.is_ascii_alphanumeric(),
        ClassAsciiKind::Alpha => c.is_ascii_alphabetic(),
        ClassAsciiKind::Digit => c.is_ascii_digit(),
        ClassAsciiKind::Lower => c.is_ascii_lowercase(),
        ClassAsciiKind::Upper => c.is_ascii_uppercase(),
        ClassAsciiKind::Punct => c.is_ascii_punctuation(),
        ClassAsciiKind::Xdigit => c.is_ascii_hexdigit(),
        ClassAsciiKind::Word => c.is_ascii_alphanumeric() || c == '_',
        ClassAsciiKind::Blank | ClassAsciiKind::Space => c == ' ',
        ClassAsciiKind::Graph => c != ' ',
        ClassAsciiKind::Ascii | ClassAsciiKind::Print => true,
        ClassAsciiKind::Cntrl => false,
    }
}

fn without(all: &[char], others: &[char]) -> Vec<char> {
    all.iter().copied().filter(|character| !others.contains(character)).collect()
}

fn sorted(mut characters: Vec<char>) -> Vec<char> {
    characters.sort_unstable();
    characters.dedup();
    characters
}
