import type { KubernetesObject } from '../../../api/meta.ts';

/** The API server's own: they change without anybody wanting it. */
const serverFields: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

/** What people want of an object: without its status and what is the server's. */
export function wantedContent(object: KubernetesObject): KubernetesObject {
  const { status: _, ...content } = object;
  const metadata = Object.entries(content.metadata).filter(([field]) => !serverFields.has(field));
  return { ...content, metadata: Object.fromEntries(metadata) };
}
