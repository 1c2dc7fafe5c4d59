/** Upper bounds for a value of an expression, as far as the expression's text tells. */
export interface Shape {
  /** Maximum number of items of a list or map. */
  readonly items: number;
  /** Maximum length of a text, or bytes. */
  readonly characters: number;
  /** Bounds for each item. */
  readonly item: Shape;
  /** Known nesting depth of lists, maps and optionals, itself included. */
  readonly depth: number;
}

/** Maximum nesting depth of values in an expression. */
const maxDepth = 3;

interface MutableShape extends Shape {
  item: Shape;
}

/** A number, a boolean or a time; 40 characters is the longest written form. */
export const scalar: Shape = itself({ items: 0, characters: 40, depth: 0 });

/**
 * Assumed bounds for everything inside `self`: no expression tells how large it is. Some objects
 * exceed them; the limits of the worker process hold for those.
 */
export const unknown: Shape = itself({ items: 100, characters: 1_000, depth: 0 });

export function textOf(characters: number): Shape {
  return { items: 0, characters, item: scalar, depth: 0 };
}

/** @throws Error when it is nested too deep. */
export function listOf(items: number, item: Shape): Shape {
  return { items, characters: 0, item, depth: deeper(item) };
}

/** @throws Error when it is nested too deep. */
export function optionalOf(value: Shape): Shape {
  return { ...value, depth: deeper(value) };
}

/**
 * The CEL library keeps every type that an expression creates until the process ends: this depth
 * keeps their number small.
 */
function deeper({ depth }: Shape): number {
  if (depth < maxDepth) return depth + 1;
  throw new Error(`it nests lists, maps and optionals more than ${maxDepth} deep`);
}

export function eitherOf(a: Shape, b: Shape): Shape {
  if (a === b || b === scalar) return a;
  if (a === scalar) return b;
  return {
    items: Math.max(a.items, b.items),
    characters: Math.max(a.characters, b.characters),
    item: eitherOf(a.item, b.item),
    depth: Math.max(a.depth, b.depth),
  };
}

export function concatenated(a: Shape, b: Shape): Shape {
  return {
    items: a.items + b.items,
    characters: a.characters + b.characters,
    item: eitherOf(a.item, b.item),
    depth: Math.max(a.depth, b.depth),
  };
}

/** Cost of reading a whole value; an unknown value that is compared counts as a text. */
export function weightOf(shape: Shape): number {
  const ofText = 1 + shape.characters / 10;
  return shape.item === shape ? ofText : ofText + shape.items * weightOf(shape.item);
}

function itself(sizes: Omit<Shape, 'item'>): Shape {
  const shape = { ...sizes } as MutableShape;
  shape.item = shape;
  return shape;
}

/** The maximum cost of an expression, and the bounds of its result. */
export interface Estimate {
  /** In the units of Kubernetes' estimate for CEL: about one per step, a tenth per character. */
  readonly cost: number;
  readonly shape: Shape;
}

export const perCharacter = 0.1;
/** Constructing dates in a time zone parses text. */
const timeZoneCost = 100;
/** Cost and result of one method call, without its receiver and arguments. */
export function methodCost(name: string, self: Shape, args: readonly Shape[]): Estimate {
  const [first = scalar] = args;
  const reading = 1 + self.characters * perCharacter;
  switch (name) {
    case 'contains':
    case 'indexOf':
    case 'lastIndexOf':
      return { cost: reading * (1 + first.characters * perCharacter), shape: scalar };
    case 'matches':
      return { cost: reading * (1 + first.characters / 4), shape: scalar };
    case 'split':
      return { cost: 1 + self.characters, shape: listOf(self.characters + 1, self) };
    case 'join':
      return joined(self, first);
    case 'or':
    case 'orValue':
      return { cost: 1, shape: eitherOf(self, first) };
    default:
      return { cost: reading + otherCost(name, args), shape: otherShape(name, self, args) };
  }
}

function joined(list: Shape, separator: Shape): Estimate {
  const characters = list.items * (list.item.characters + separator.characters);
  return { cost: 1 + list.items + characters * perCharacter, shape: textOf(characters) };
}

function otherCost(name: string, args: readonly Shape[]): number {
  return name.startsWith('get') && args.length > 0 ? timeZoneCost : 0;
}

/** Their result is at most as large as their receiver. */
const asLarge: ReadonlySet<string> = new Set([
  'lowerAscii',
  'upperAscii',
  'trim',
  'substring',
  'string',
  'value',
]);

function otherShape(name: string, self: Shape, [first]: readonly Shape[]): Shape {
  switch (name) {
    case 'hex':
    case 'base64':
      return textOf(2 * self.characters + scalar.characters);
    case 'json':
      return { ...eitherOf(self, unknown), items: Math.max(self.characters, unknown.items) };
    case 'of':
      return optionalOf(first ?? unknown);
    default:
      return asLarge.has(name) ? self : scalar;
  }
}
