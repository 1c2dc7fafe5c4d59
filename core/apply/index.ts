export { ApplyEngine } from './apply-engine.ts';
export { fieldsOf, isOwnEntry } from './fields/managed-fields.ts';
export { digestOf, fieldManager } from './fields/projection.ts';
export { type ForeseenObject, forecastObjects } from './forecast/forecaster.ts';
export {
  isSecret,
  mask,
  secretFields,
  wantedContent,
  withoutCopy,
} from './forecast/foreseen-change.ts';
export type { ObjectStates } from './forecast/object-forecast.ts';
export { apiServiceProblem, computeStatus } from './health/object-health.ts';
export { podReason } from './health/pod-reason.ts';
export { ruleProblem } from './health/rules/custom-rule.ts';
export { RulesByKind } from './health/rules/own-verdicts.ts';
export { inProgress, type ObjectStatus } from './health/status.ts';
export { HelmReleases } from './helm-migration/helm-releases.ts';
export { type ReleaseSecret, releaseSecrets } from './helm-migration/release-secrets.ts';
export {
  type HookEvent,
  hookOf,
  hooksOf,
  type SplitObjects,
  splitHooks,
} from './hooks/hook.ts';
export { type InventoryEntry, slim } from './inventory/entry.ts';
export { Inventory } from './inventory/inventory.ts';
export { applySetKinds, isApplySetParent } from './kinds/applyset-parent.ts';
export { kindKey, resolveKinds } from './kinds/kinds.ts';
export { isKept } from './objects/desired.ts';
export { isAboutMissing, isTransient } from './objects/failures.ts';
export { describeObject, objectPath } from './objects/object-id.ts';
export {
  inKindOrder,
  isDefinition,
  isNamespace,
  isNamespaceOrDefinition,
} from './objects/order.ts';
export {
  applySetKey,
  belongsTo,
  controllerOf,
  deploymentApplySetID,
  isDeployment,
  isHookObject,
  labelledOwner,
} from './objects/owner-marks.ts';
export { hasAppliedSpec, renderingOf } from './ownership/applied-spec.ts';
export { DeploymentConsent } from './ownership/consent.ts';
export { helmRelease, transferTargets } from './ownership/ownership.ts';
export { desiredSet } from './plan/desired-set.ts';
export {
  clientOf,
  lifetimeVerbs,
  missingPermissions,
  neededPermissions,
  type Permission,
  permissionsOn,
} from './privilege/permissions.ts';
export { lostConversions } from './prune/lost-conversions.ts';
export { planRemoval } from './prune/prune-plan.ts';
export { builtInStage, stageOf } from './stages/stage-order.ts';
export { OutdatedOwnerError } from './state/outdated-owner.ts';
