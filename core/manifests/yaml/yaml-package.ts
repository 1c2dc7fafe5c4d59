import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

type YamlPackage = typeof Yaml;

let loaded: YamlPackage | undefined;

/**
 * The `yaml` package, loaded for the first document that the block reader leaves to it: most programs
 * meet none, and it takes 40 ms and 9 MiB.
 */
export function yamlPackage(): YamlPackage {
  loaded ??= createRequire(import.meta.url)('yaml') as YamlPackage;
  return loaded;
}

export function isAlias(node: unknown): node is Yaml.Alias {
  return yamlPackage().isAlias(node);
}

export function isMap(node: unknown): node is Yaml.YAMLMap {
  return yamlPackage().isMap(node);
}

export function isScalar(node: unknown): node is Yaml.Scalar {
  return yamlPackage().isScalar(node);
}

export function isSeq(node: unknown): node is Yaml.YAMLSeq {
  return yamlPackage().isSeq(node);
}
