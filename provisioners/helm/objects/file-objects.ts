import {
  errorMessage,
  type KubernetesObject,
  parseManifests,
  TerminalError,
} from '../../../core/sdk.ts';
import type { RenderedFile } from '../engine/index.ts';

/**
 * The objects of one rendered document, as kubectl reads them; a list is flattened.
 * @throws TerminalError that names the template and quotes nothing of what it rendered, which may
 * be of a Secret.
 */
export function fileObjects(
  { path, text }: RenderedFile,
  maxObjects: number,
): readonly KubernetesObject[] {
  const objects = parsed(path, text, maxObjects);
  for (const object of objects) check(path, object);
  return objects;
}

const withoutKind = /^unable to decode .*: Object 'Kind' is missing in /;

function parsed(path: string, text: string, maxObjects: number): readonly KubernetesObject[] {
  try {
    return parseManifests(path, Buffer.from(text), maxObjects);
  } catch (error) {
    if (withoutKind.test(errorMessage(error))) throw lacks(path, 'an object', 'kind');
    throw error;
  }
}

function check(path: string, { apiVersion, kind, metadata }: KubernetesObject): void {
  if (apiVersion === '') throw lacks(path, `${kind} "${metadata.name ?? ''}"`, 'apiVersion');
  if (!metadata.name) throw lacks(path, `an object of kind ${kind}`, 'metadata.name');
}

function lacks(path: string, what: string, field: string): TerminalError {
  return new TerminalError(`template ${path} renders ${what} without ${field}`);
}
