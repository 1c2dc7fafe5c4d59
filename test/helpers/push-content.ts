import { stringifyJson } from '../../api/json.ts';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { anImage } from './objects.ts';
import { pushImage } from './push-image.ts';

export interface PushedContent {
  readonly registry: string;
  readonly name: string;
  readonly version: number;
  /** By path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Pushes content as `e2e/<name>:v<version>`. */
export async function pushContent(content: PushedContent): Promise<BundleSource> {
  const { registry, name, version, files } = content;
  const repository = `e2e/${name}`;
  await pushImage({ registry, repository, tag: `v${version}`, layers: [{ files }] });
  return anImage(`${registry}/${repository}:v${version}`);
}

/** Plain content of one file. */
export function plainFiles(objects: readonly object[]): Readonly<Record<string, string>> {
  return { 'manifests/all.yaml': objects.map((object) => stringifyJson(object)).join('\n---\n') };
}
