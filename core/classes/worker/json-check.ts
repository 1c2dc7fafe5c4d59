/** Deeper than anything that Kubernetes has; the readers of an object go down by recursion. */
const maxDepth = 250;

interface Walk {
  /** The values around the present one. */
  readonly around: unknown[];
  readonly path: (string | number)[];
}

/**
 * What keeps a value from being JSON, with its place; undefined where nothing does. An undefined
 * property is none. JSON.stringify would leave out functions and empty Maps without a word.
 */
export function findNoJson(value: unknown): string | undefined {
  return problemOf(value, { around: [], path: [] });
}

function problemOf(value: unknown, walk: Walk): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : at(walk, `is ${value}, which JSON does not have`);
    case 'object':
      return value === null ? undefined : problemInside(value, walk);
    default:
      return at(walk, `is a ${typeof value}`);
  }
}

function problemInside(value: object, walk: Walk): string | undefined {
  if (walk.around.includes(value)) return at(walk, 'refers to what it is a part of');
  if (walk.around.length >= maxDepth) return `is nested more than ${maxDepth} deep`;
  if (!Array.isArray(value) && !isPlain(value)) return at(walk, `is ${nameOf(value)}`);
  walk.around.push(value);
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries as Iterable<[string | number, unknown]>) {
    walk.path.push(key);
    const problem = problemOf(item, walk);
    if (problem !== undefined) return problem;
    walk.path.pop();
  }
  walk.around.pop();
  return undefined;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return true;
  // Of another realm, such as a sandbox of the class's own.
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
  );
}

function nameOf(value: object): string {
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name;
  return `a ${typeof name === 'string' ? name.slice(0, 50) : 'class of its own'}, which is no JSON`;
}

const longestPath = 200;

function at({ path }: Walk, problem: string): string {
  const text = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .slice(0, longestPath);
  return text === '' ? problem : `cannot be written as JSON: ${text} ${problem}`;
}
