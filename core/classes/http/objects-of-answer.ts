import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import {
  contractVersion,
  type DefinedProvisioner,
  type ProvisionerContext,
} from '../../contracts/provisioner.ts';
import {
  checkObjectCount,
  checkObjectSize,
  parseManifests,
  parseObjects,
} from '../../manifests/index.ts';

/**
 * The objects in a server's answer, given as content of one file: `.json` with an array, a List or
 * one object, or `.yaml` with any number of documents.
 * @throws Error for an answer that lists no objects and does not say so: it may be a failure of the
 * server, and all installed objects would be pruned.
 */
export async function objectsOfAnswer(
  { files }: BundleFiles,
  _deployment: BundleDeployment,
  { limits: { maxEntries } }: ProvisionerContext,
): Promise<readonly KubernetesObject[]> {
  const manifests = Array.from(
    files,
    ([path, content]) => [path, path.endsWith('.json') ? asList(content) : content] as const,
  );
  const objects = manifests.flatMap(([path, text]) => parseManifests(path, text, maxEntries));
  if (objects.length === 0 && !manifests.some(([, text]) => hasEmptyList(text))) {
    throw new Error(
      'the answer has neither objects nor an empty list: for no objects answer with the JSON [] or a List whose items are []',
    );
  }
  checkObjectCount(objects.length, maxEntries);
  for (const object of objects) checkObjectSize(object);
  return objects;
}

/** Whether manifests without objects have a list that says so. */
function hasEmptyList(manifests: Uint8Array): boolean {
  return parseObjects(manifests).some(({ items }) => Array.isArray(items));
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
