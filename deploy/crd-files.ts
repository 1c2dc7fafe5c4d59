import { stringify } from 'yaml';
import { bundleCRD, bundleDeploymentCRD } from '../api/crd.ts';

/** Folder of the generated CustomResourceDefinitions. */
export const crdFolder = new URL('./crds/', import.meta.url);

/** File name to YAML text of every CustomResourceDefinition, as generated from the zod schemas. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['core.rukpak.io_bundles.yaml', yamlOf(bundleCRD())],
    ['core.rukpak.io_bundledeployments.yaml', yamlOf(bundleDeploymentCRD())],
  ]);
}

const header =
  '# Generated from the schemas in api/ by `npm run generate`; change those instead.\n';

function yamlOf(object: object): string {
  // Quotes strings that kubectl's YAML 1.1 would read as another type.
  const options = { version: '1.1', aliasDuplicateObjects: false, lineWidth: 100 } as const;
  return header + stringify(object, options);
}
