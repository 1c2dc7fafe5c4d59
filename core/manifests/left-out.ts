import type { KubernetesObject } from '../../api/meta.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';

export interface LeftOut {
  /** What is to be applied. */
  readonly objects: readonly KubernetesObject[];
  /** One sentence for each object that is not, and why. */
  readonly leftOut: readonly string[];
}

/** The objects without those that a class has annotated to be left out. */
export function withoutLeftOut(rendered: readonly KubernetesObject[]): LeftOut {
  const leftOut: string[] = [];
  const objects = rendered.filter((object) => {
    const because = reasonOf(object);
    if (because === undefined) return true;
    const { apiVersion, kind, metadata } = object;
    leftOut.push(`${kind} "${metadata.name ?? ''}" of ${apiVersion} is left out: ${because}`);
    return false;
  });
  return { objects, leftOut };
}

function reasonOf({ metadata }: KubernetesObject): string | undefined {
  // Objects of bundles are read without a schema.
  const annotations = metadata?.annotations as Readonly<Record<string, unknown>> | null | undefined;
  const because = annotations?.[annotation.leftOut];
  return typeof because === 'string' ? because : undefined;
}
