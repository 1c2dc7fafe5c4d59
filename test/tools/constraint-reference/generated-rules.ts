/** Random values, rules and constraints for `constraints.test.ts`; all come from one generator. */
export class Generator {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  several<T>(most: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.#random() * (most + 1)) }, make);
  }

  value(depth = 2): unknown {
    if (depth === 0 || this.chance(0.6)) return this.pick(scalars);
    if (this.chance(0.5)) return this.several(3, () => this.value(depth - 1));
    return Object.fromEntries(
      this.several(3, () => [this.pick(fields), this.value(depth - 1)] as const),
    );
  }

  property(): { readonly type: string; readonly value: unknown } {
    const made = this.chance(0.5) ? this.pick(known) : undefined;
    if (made === undefined) return { type: this.pick(types), value: this.value() };
    if (this.chance(0.9)) return made;
    return { type: made.type, value: { ...made.value, [this.pick(fields)]: this.value(1) } };
  }

  /** A rule that is mostly valid. */
  rule(): string {
    const rule = this.#truth(3, []);
    if (this.chance(0.97)) return rule;
    const characters = Array.from(rule);
    const at = Math.floor(this.#random() * characters.length);
    return characters.with(at, this.pick(noise)).join('');
  }

  constraint(depth = 2): unknown {
    const made = this.#constraint(depth);
    if (this.chance(0.85)) return made;
    if (this.chance(0.3)) return { ...made, [this.pick(oddFields)]: this.value(1) };
    return { ...made, failureMessage: this.pick(['', 'needs "it"', 'läuft', 5]) };
  }

  #constraint(depth: number): object {
    if (depth > 0 && this.chance(0.5)) {
      const constraints = this.several(3, () => this.constraint(depth - 1));
      return { [this.pick(['all', 'any', 'not'])]: { constraints } };
    }
    if (this.chance(0.4)) return { cel: { rule: this.rule() } };
    if (this.chance(0.5)) return { gvk: this.pick(apis) };
    return { package: { packageName: this.pick(packages), versionRange: this.pick(ranges) } };
  }

  #truth(depth: number, names: readonly string[]): string {
    const one = () => this.#truth(depth - 1, names);
    const any = () => this.#any(depth - 1, names);
    if (depth === 0) return this.pick(['true', 'false', `${any()} == ${any()}`]);
    const compare = () => this.pick(['==', '!=', '<', '<=', '>', '>=', 'in']);
    return this.pick([
      () => this.#fold(depth, names),
      () => this.#fold(depth, names),
      () => `${any()} ${compare()} ${any()}`,
      () => `${any()} ${compare()} ${any()}`,
      () => `${one()} && ${one()}`,
      () => `(${one()} || ${one()})`,
      () => `!(${one()})`,
      () => `(${one()} ? ${one()} : ${one()})`,
      () => `has(${any()}.${this.pick(fields)})`,
      () => `${any()}.${this.pick(['contains', 'startsWith', 'endsWith'])}(${any()})`,
      () => `${any()}.matches(${this.pick(patterns)})`,
      () => `semver_compare(${any()}, ${any()}) ${compare()} ${this.pick(['0', '1', '-1'])}`,
      () => `type(${any()}) == ${this.pick(typeNames)}`,
    ])();
  }

  #fold(depth: number, names: readonly string[]): string {
    const name = this.pick(['p', 'q', 'x']);
    const range = this.chance(0.7) ? 'properties' : this.#any(depth - 1, names);
    const inner = [...names, name];
    const body =
      depth > 1 && this.chance(0.8) ? this.#truth(depth - 1, inner) : this.#typical(inner);
    const macro = this.pick(['exists', 'exists', 'all', 'exists_one']);
    return `${range}.${macro}(${name}, ${body})`;
  }

  #typical(names: readonly string[]): string {
    const name = names.at(-1) ?? 'properties';
    const type = this.pick(types);
    return `${name}.type == "${type}" && ${name}.value${this.pick(paths)} ${this.pick(['==', '>', '!='])} ${this.pick(literals)}`;
  }

  #any(depth: number, names: readonly string[]): string {
    if (depth <= 0 || this.chance(0.6)) return this.#atom(names);
    const one = () => this.#any(depth - 1, names);
    const name = this.pick(['p', 'y']);
    return this.pick([
      () => `(${one()} ${this.pick(['+', '-', '*', '/', '%'])} ${one()})`,
      () => `${this.pick(conversions)}(${one()})`,
      () => `dyn(${one()})`,
      () => `[${one()}, ${one()}]`,
      () => `{${this.pick(literals)}: ${one()}, ${this.pick(literals)}: ${one()}}`,
      () => `${one()}[${one()}]`,
      () => `${one()}.${this.pick(fields)}`,
      () => `size(${one()})`,
      () => `${one()}.size()`,
      () => `-(${one()})`,
      () => `properties.map(${name}, ${this.#any(depth - 1, [...names, name])})`,
      () => `properties.filter(${name}, ${this.#truth(depth - 1, [...names, name])})`,
      () => `(${this.#truth(depth - 1, names)} ? ${one()} : ${one()})`,
    ])();
  }

  #atom(names: readonly string[]): string {
    const name = this.chance(0.99) ? names.at(-1) : 'unknown';
    if (name === undefined || this.chance(0.3)) {
      const literal = this.pick(literals);
      return this.chance(0.9) ? `dyn(${literal})` : literal;
    }
    return this.chance(0.7) ? `${name}.value${this.pick(paths)}` : `${name}.type`;
  }
}

const scalars = [
  null,
  true,
  false,
  0,
  5,
  1.5,
  -3,
  1e6,
  1e21,
  1e-7,
  2 ** 53 + 2,
  3e18,
  '',
  ...'a,x,certified,1.2.3,v1.2,1,1.0.0-rc.1,ä😀,\ufffd,true'.split(','),
];
const fields = ['a', 'b', 'type', 'value', 'version', 'group', 'kind', 'package', 'x'];
const types = ['olm.gvk', 'olm.package', 'olm.label', 'a', 'b', 'certified', ''];
const apis = [
  { group: 'g.example.com', version: 'v1', kind: 'G' },
  { group: 'g.example.com', version: 'v2', kind: 'G' },
  { GROUP: 'g.example.com', Version: 'v1', kınd: 'G' },
  { group: 'g.example.com', version: 'v1', kind: 'G', more: 1 },
  { group: 'g.example.com', version: 'v1', kind: null },
  { group: 1 },
];
const packages = ['blue', 'red', ''];
const ranges = ['>=1.0.0', '<2.0.0 !1.2.1', '1.x', '1.2.3', '>=x', '', '^1.0.0', '>1.0.0-rc.0'];
const known = [
  ...apis.slice(0, 2).map((value) => ({ type: 'olm.gvk', value })),
  { type: 'olm.package', value: { packageName: 'blue', version: '1.2.3' } },
  { type: 'olm.package', value: { packageName: 'blue', version: 'v1.0' } },
  { type: 'olm.package', value: { packageName: 'red', version: '2.0.0-rc.1' } },
  { type: 'olm.label', value: { label: 'dark' } },
  { type: 'certified', value: { a: 5, b: ['x'], version: '1.2.3' } },
];
const oddFields = ['foo', 'GVK', 'Package', 'constraints', 'cel', 'aLL', 'ALL', 'not', 'ſ'];
const noise = ['(', ')', '"', '@', ',', '!', ' ', '?', '\n', 'é'];
const paths = ['', '', '.a', '.b', '.version', '["a"]', '[0]', '.x.a', '.kind'];
const literals = `
1 0 5 (-3) 2u 1.5 1.0 1e6 true null [] {} [1,"a",null] "a" "x" "1.2.3" "v1.2" 'ä😀' r"\\d" b"ab"
"olm.gvk" "certified" {"a":1} {1:"a",true:2.0} 9223372036854775807 (-9223372036854775808) ""
duration("90m") timestamp("2024-02-29T12:30:00Z") type(1) properties 0x1F
`
  .trim()
  .split(/\s+/);
const conversions = 'int uint double string bool bytes type duration timestamp'.split(' ');
const typeNames =
  'int uint double string bool bytes list map null_type type google.protobuf.Timestamp google.protobuf.Duration'.split(
    ' ',
  );
const patterns = ['"^[a-z]+$"', '"(a|x)*"', '"1\\\\.2"', '"("', '"(?i)CERT"', '"\\\\pL{2,}"', '1'];
