import type { Alias, Node, Pair, Scalar, YAMLMap } from 'yaml';
import { type JsonValue, stringifyJson } from '../../../api/json.ts';
import { plainKey, resolveInteger, resolvePlain, resolveTagged, setMember } from './scalars.ts';
import { isAlias, isMap, isScalar, isSeq } from './yaml-package.ts';
import { conversionError, maxNesting, nestingError, shortened, yamlError } from './yaml-text.ts';

type YamlNode = Node | null | undefined;

/**
 * Maximum additions by aliases to a document: nodes and keys, with one more per 64 characters of a
 * text. No API server accepts an object of this size.
 */
const maxAliasedNodes = 250_000;

/**
 * Turns composed nodes into JSON values in one pass, in document order: resolves anchors, aliases
 * and merge keys as Go does. Each alias gets its own copy of the value.
 */
export class NodeReader {
  readonly #anchors = new Map<string, Node>();
  readonly #targets = new Map<Alias, Node>();
  readonly #open = new Set<Node>();
  #depth = 0;
  #aliases = 0;
  #aliasedNodes = 0;

  read(node: YamlNode): JsonValue {
    if (node === null || node === undefined) return null;
    if (isAlias(node)) return this.#readAlias(node);
    if (this.#aliases > 0) this.#countAliased(node);
    const anchor = 'anchor' in node ? node.anchor : undefined;
    if (anchor !== undefined && this.#aliases === 0) this.#anchors.set(anchor, node);
    return isScalar(node) ? readScalar(node) : this.#readCollection(node);
  }

  #readCollection(node: Node): JsonValue {
    this.#depth += 1;
    if (this.#depth > maxNesting) throw nestingError();
    this.#open.add(node);
    const value = isMap(node) ? this.#readMap(node) : this.#readSequence(node);
    this.#open.delete(node);
    this.#depth -= 1;
    return value;
  }

  #readSequence(node: Node): JsonValue {
    return isSeq(node) ? node.items.map((item) => this.read(item as YamlNode)) : null;
  }

  #readMap(map: YAMLMap): JsonValue {
    const object = {};
    this.#readInto(object, map);
    return object;
  }

  #readInto(object: object, map: YAMLMap): void {
    for (const { key, value } of map.items as Pair<YamlNode, YamlNode>[]) {
      if (isMergeKey(key)) {
        this.#merge(object, value);
        continue;
      }
      const text = this.#readKey(key);
      const read = this.read(value);
      if (text === undefined) throw unsupportedKey(this.#follow(key), read);
      setMember(object, text, read);
    }
  }

  // As in Go, a merge overrides earlier keys, and later keys override it.
  #merge(object: object, value: YamlNode): void {
    const node = this.#follow(value);
    if (isMap(node)) {
      Object.entries(this.read(value) as object).forEach(([k, v]) => setMember(object, k, v));
      return;
    }
    if (!isSeq(node) || isAlias(value)) throw notMergeable();
    const maps = node.items.map((item) => {
      if (!isMap(this.#follow(item as YamlNode))) throw notMergeable();
      return this.read(item as YamlNode) as object;
    });
    for (const map of maps.toReversed()) {
      for (const [k, v] of Object.entries(map)) setMember(object, k, v);
    }
  }

  #readKey(key: YamlNode): string | undefined {
    const node = this.#follow(key);
    if (node === null || node === undefined) return undefined;
    if (!isScalar(node)) throw yamlError('invalid map key: only scalars can be keys');
    if (isAlias(key) || this.#aliases > 0) this.#countAliased(node);
    else if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return readKey(node);
  }

  #follow(node: YamlNode): YamlNode {
    return isAlias(node) ? this.#target(node) : node;
  }

  // An alias refers to the last anchor before it, also when another alias reads it again.
  #target(alias: Alias): Node {
    const name = alias.source;
    const node = this.#targets.get(alias) ?? this.#anchors.get(name);
    if (node === undefined) throw yamlError(`unknown anchor '${name}' referenced`);
    if (this.#open.has(node)) throw yamlError(`anchor '${name}' value contains itself`);
    this.#targets.set(alias, node);
    return node;
  }

  #readAlias(alias: Alias): JsonValue {
    const node = this.#target(alias);
    this.#aliases += 1;
    const value = this.read(node);
    this.#aliases -= 1;
    return value;
  }

  #countAliased(node: Node): void {
    this.#aliasedNodes += 1 + (isScalar(node) ? textOf(node).length >> 6 : 0);
    if (this.#aliasedNodes > maxAliasedNodes) {
      throw yamlError('document contains excessive aliasing');
    }
  }
}

function readKey(node: Scalar): string | undefined {
  const text = textOf(node);
  if (node.tag === undefined) return isPlain(node) ? plainKey(text) : text;
  const value = resolveTagged(node.tag, text);
  return typeof value === 'string' ? value : plainKey(text);
}

function readScalar(node: Scalar): JsonValue {
  const text = textOf(node);
  if (node.tag === undefined && !isPlain(node)) return text;
  const value = node.tag === undefined ? resolvePlain(text) : resolveTagged(node.tag, text);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw conversionError(`json: unsupported value: ${goNumbers.get(value) ?? 'NaN'}`);
  }
  return value;
}

const goNumbers: ReadonlyMap<number, string> = new Map([
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
]);

function isMergeKey(key: YamlNode): boolean {
  if (!isScalar(key) || textOf(key) !== '<<') return false;
  return key.tag === 'tag:yaml.org,2002:merge' || (key.tag === undefined && isPlain(key));
}

function isPlain(node: Scalar): boolean {
  return node.type === undefined || node.type === 'PLAIN';
}

function textOf(node: Scalar): string {
  const text = String(node.value);
  if (!text.isWellFormed()) throw yamlError('found invalid Unicode character escape code');
  return text;
}

// In Go's notation of a type, a key and a value; only integers and null are invalid keys.
function unsupportedKey(key: YamlNode, value: JsonValue): Error {
  const integer = isScalar(key) ? resolveInteger(textOf(key)) : undefined;
  const shown =
    integer === undefined ? '%!s(<nil>), key: <nil>' : `uint64, key: 0x${integer.toString(16)}`;
  const text = shortened(stringifyJson(value));
  return conversionError(`unsupported map key of type: ${shown}, value: ${text}`);
}

function notMergeable(): Error {
  return yamlError('map merge requires map or sequence of maps as the value');
}
