import {
  bundleContent,
  type Check,
  type CheckOptions,
  manifestObjects,
} from '../../catalog/bundle-checks/bundle-content.ts';
import { type BundleFiles, toYaml } from '../../core/sdk.ts';
import { readRegistryManifests } from '../../provisioners/registry/bundle/registry-bundle.ts';
import { aCsvManifest, aRegistryTree } from './registry-bundle.ts';

/** What a check finds: `<E or W> <file>:<line> <message>`. */
export function found(check: Check, files: BundleFiles, options: CheckOptions = {}): string[] {
  const { objects } = manifestObjects(files, readRegistryManifests);
  const content = bundleContent(files, objects);
  return check.find(content, options).map(({ severity, place, message }) => {
    const line = place && content.lines.lineOf(place);
    const where =
      place === undefined ? '' : ` ${place.file}${line === undefined ? '' : `:${line}`}`;
    return `${severity === 'error' ? 'E' : 'W'}${where} ${message}`;
  });
}

/** A bundle with this CSV as YAML, and other files. */
export function aBundleWith(
  csv: { readonly spec?: object; readonly metadata?: object },
  files: Readonly<Record<string, string>> = {},
): BundleFiles {
  const { spec = {}, metadata = {} } = csv;
  const object = aCsvManifest(spec, metadata);
  return aRegistryTree(undefined, { 'manifests/csv.yaml': toYaml([object]), ...files });
}
