import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type ProvisionerContext,
} from '../../contracts/provisioner.ts';
import { checkObjectCount, checkObjectSize, parseManifests } from '../../manifests/index.ts';

/**
 * The objects in a server's answer, given as content of one file: `.json` with an array, a List or
 * one object, or `.yaml` with any number of documents.
 */
export async function objectsOfAnswer(
  { files }: BundleFiles,
  _deployment: BundleDeployment,
  { limits: { maxEntries } }: ProvisionerContext,
): Promise<readonly KubernetesObject[]> {
  const objects = [...files].flatMap(([path, content]) =>
    parseManifests(path, path.endsWith('.json') ? asList(content) : content, maxEntries),
  );
  checkObjectCount(objects.length, maxEntries);
  for (const object of objects) checkObjectSize(object);
  return objects;
}

/** Manifests cannot be arrays. */
function asList(content: Uint8Array): Uint8Array {
  const first = content.find((byte) => byte > 0x20);
  if (first !== '['.charCodeAt(0)) return content;
  return Buffer.concat([
    Buffer.from('{"apiVersion":"v1","kind":"List","items":'),
    content,
    Buffer.from('}'),
  ]);
}

// A class, so that a worker process reads the foreign answer.
// oxlint-disable-next-line import/no-default-export -- what worker processes load
export default {
  className: 'objects-of-answer',
  contractVersion,
  deployment: objectsOfAnswer,
} satisfies DefinedProvisioner;
