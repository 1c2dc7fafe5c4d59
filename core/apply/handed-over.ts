import { describeObject } from './objects/object-id.ts';
import type { CheckedObject } from './plan/ownership-check.ts';
import type { Run } from './run.ts';

/** Tells both deployments of an object that went from one to the other, and has the giver look. */
export function handedOver(
  { parts, owner, name }: Run,
  { desired: { resource, key }, handedOverBy: giver }: CheckedObject,
): void {
  if (giver === undefined) return;
  const { events } = parts.options;
  const what = describeObject(resource.kind, key);
  const giverName = giver.metadata.name ?? '';
  events.event(giver, {
    type: 'Normal',
    reason: 'ObjectHandedOver',
    message: `${what} was handed over to BundleDeployment "${name}" and is left alone from now on`,
  });
  events.event(owner, {
    type: 'Normal',
    reason: 'ObjectTakenOver',
    message: `${what} was taken over from BundleDeployment "${giverName}", which hands it over`,
  });
  parts.notify(giverName);
}
