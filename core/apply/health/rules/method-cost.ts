import {
  eitherOf,
  listOf,
  optionalOf,
  type Shape,
  scalar,
  textOf,
  unknown,
} from './value-shape.ts';

/** What it takes to evaluate an expression at most, and what comes of it. */
export interface Estimate {
  /** In the units of Kubernetes' estimate for CEL: about one per step, a tenth per character. */
  readonly cost: number;
  readonly shape: Shape;
}

export const perCharacter = 0.1;
/** Dates in a time zone are made from text. */
const timeZoneCost = 100;
/** What one call of a method costs and gives, without its receiver and arguments. */
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

/** They give no more than they are called on. */
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
