import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';

/** A part of an expression, as the parser returns it. */
export type Node = ASTNode;

/** Levels of an expression, which bound the stack; chains of && and of || are one level. */
const maxDepth = 250;
const maxNodes = 4_000;

/** UTF-16 units of a line above which errors do not show it. */
const maxLine = 1_000;
const maxShown = 100;

/** A problem of an expression at a place of its text. */
export interface Problem {
  /** Offset in UTF-16 units. */
  readonly at: number;
  readonly message: string;
}

/** An expression is invalid; the message has cel-go's form. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  constructor(text: string, problems: readonly Problem[]) {
    const shown = problems.toSorted((a, b) => a.at - b.at).slice(0, maxShown);
    const starts = lineStarts(text);
    const lines = shown.map((problem) => displayed({ text, starts }, problem));
    const more = problems.length - shown.length;
    super([...lines, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n'));
  }
}

const environment = new Environment({
  limits: { maxAstNodes: maxNodes, maxDepth, maxListElements: maxNodes, maxMapEntries: maxNodes },
});

/**
 * Parses an expression; checks no types.
 * @throws ExpressionError
 */
export function parseExpression(text: string): Node {
  const node = parsed(text);
  if (!isDeeper(node, maxDepth)) return node;
  throw new ExpressionError(text, [
    { at: 0, message: `expression recursion limit exceeded: ${maxDepth}` },
  ]);
}

function parsed(text: string): Node {
  try {
    return environment.parse(text).ast;
  } catch (error) {
    if (error instanceof ParseError) {
      const message = problemOf(error);
      throw new ExpressionError(text, [{ at: error.range?.start ?? 0, message }]);
    }
    // The parser descends into each "!" and "-" without counting them.
    if (!(error instanceof RangeError)) throw error;
    const message = `expression recursion limit exceeded: ${maxDepth}`;
    throw new ExpressionError(text, [{ at: 0, message }]);
  }
}

function problemOf({ code, summary }: ParseError): string {
  if (code !== 'reserved_identifier') return `Syntax error: ${printable(summary)}`;
  return summary.replace('Reserved', 'reserved');
}

/** Iterative, since the parser makes chains of operators as deep as they are long. */
function isDeeper(root: Node, levels: number): boolean {
  const open: (readonly [Node, number])[] = [[root, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, level] = next;
    if (level > levels) return true;
    for (const child of childrenOf(node)) open.push([child, level + 1]);
  }
  return false;
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '&&':
    case '||':
      return operandsOf(node);
    case 'map':
      return node.args.flat();
    default:
      return [node.args].flat(2).filter(isNode);
  }
}

/** Arguments of a node are nodes, lists of nodes, and names. */
function isNode(argument: Node | string): argument is Node {
  return typeof argument === 'object';
}

/** The operands of a chain of one logical operator, in their order. */
export function operandsOf(chain: Extract<Node, { op: '&&' | '||' }>): readonly Node[] {
  const operands: Node[] = [];
  let left: Node = chain;
  while (left.op === '&&' || left.op === '||') {
    if (left.op !== chain.op) break;
    operands.push(left.args[1]);
    left = left.args[0];
  }
  return [...operands, left].toReversed();
}

const placedAtStart: ReadonlySet<string> = new Set(['value', 'id', 'list', 'map', '!_', '-_']);

const tokens: Readonly<Partial<Record<Node['op'], string>>> = { '[]': '[', '?:': '?' };

/** Where cel-go says that a node is: at the operator of an operation, at the bracket of a call. */
export function placeOf(node: Node): number {
  const { input, op, start } = node;
  if (placedAtStart.has(op)) return start;
  if (op === 'call') return tokenAfter(input, start + node.args[0].length, '(');
  if (op === 'rcall') return tokenAfter(input, tokenAfter(input, node.args[1].end, '.'), '(');
  const [left] = node.args as readonly Node[];
  return tokenAfter(input, left?.end ?? start, tokens[op] ?? op);
}

/** Where a token is that only white space, closing brackets and comments come before. */
export function tokenAfter(input: string, start: number, token: string): number {
  let at = start;
  while (at < input.length && !input.startsWith(token, at)) {
    const isComment = input.startsWith('//', at);
    const end = isComment ? input.indexOf('\n', at) : at;
    at = end === -1 ? input.length : end + 1;
  }
  return Math.min(at, input.length);
}

function lineStarts(text: string): readonly number[] {
  return [0, ...text.matchAll(/\n/g).map(({ index }) => index + 1)];
}

interface Source {
  readonly text: string;
  /** Offsets. */
  readonly starts: readonly number[];
}

function displayed({ text, starts }: Source, { at, message }: Problem): string {
  const number = starts.findLastIndex((start) => start <= at);
  const start = starts[number] ?? 0;
  const line = text.slice(start, (starts[number + 1] ?? text.length + 1) - 1);
  if (line.length > maxLine) return `ERROR: <input>:${number + 1}:${at - start + 1}: ${message}`;
  const before = Array.from(text.slice(start, at));
  const dots = before.map((character) => (isWide(character) ? '\uff0e' : '.')).join('');
  const mark = isWide(line.slice(at - start)) ? '\uff3e' : '^';
  return [
    `ERROR: <input>:${number + 1}:${before.length + 1}: ${message}`,
    ` | ${printable(line)}`,
    ` | ${dots}${mark}`,
  ].join('\n');
}

/** Also what cel-go leaves as it is: control characters of an expression do not belong into a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** Of more than one byte. */
function isWide(text: string): boolean {
  return (text.codePointAt(0) ?? 0) > 0x7f;
}
