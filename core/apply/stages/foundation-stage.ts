import { isFoundation } from '../objects/order.ts';
import type { CheckedObject } from '../objects/planned.ts';
import { annotatedStage } from './stage-of.ts';
import { type Stage, stagesOf } from './stages.ts';

/**
 * The stages to apply: all of them, or what has to be there before hooks. These are the namespaces
 * and CRDs, which hooks may be in and of, but for those that are annotated to come in a stage.
 */
export function stagesToRun(
  { foundationOnly }: { readonly foundationOnly: boolean },
  content: Parameters<typeof stagesOf<CheckedObject>>[0],
): readonly Stage[] {
  if (!foundationOnly) return stagesOf(content);
  const pending = content.pending.filter(
    ({ desired: { resource, object } }) =>
      isFoundation(resource) && annotatedStage(object) === undefined,
  );
  // Nothing else is to be waited for: the rest may have to come in a stage as well.
  return [{ number: undefined, objects: [], pending }];
}
