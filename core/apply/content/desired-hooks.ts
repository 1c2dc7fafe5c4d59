import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { TerminalError } from '../../errors.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import { isHook } from '../hooks/hook.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';
import { type DesiredSet, type DesiredSetRequest, desiredSet } from './desired-set.ts';

const listedObjects = 10;

export interface DesiredHooksRequest extends DesiredSetRequest {
  readonly hooks?: readonly KubernetesObject[];
}

/**
 * The hooks of a set with their kinds, which the set's own CRDs may define.
 * @throws TerminalError where one could never be created, or would take the place of an object.
 */
export async function desiredHooks(
  request: DesiredHooksRequest,
  { ids }: Pick<DesiredSet, 'ids'>,
): Promise<readonly DesiredObject[]> {
  const { hooks = [], operation } = request;
  if (hooks.length === 0) return [];
  const definitions = request.objects.filter((object) => isDefinition(gvkOf(object)));
  const set = await desiredSet({ ...request, objects: [...definitions, ...hooks] });
  const found = set.objects.filter(({ object }) => isHook(object));
  const twice = found.filter(({ id }) => ids.has(id));
  if (twice.length === 0) return found;
  const { installFailed, upgradeFailed } = bundleDeploymentReason;
  const names = twice.map(({ resource, key }) => objectPath(resource.kind, key));
  throw new TerminalError(
    `the bundle has both as a hook and as an object to be kept: ${names.slice(0, listedObjects).join(', ')}; ` +
      `rename one of the two, or take annotation ${annotation.hook} away`,
    { reason: operation === 'install' ? installFailed : upgradeFailed },
  );
}
