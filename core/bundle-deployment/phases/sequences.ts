import { runPostDeleteHooks, runPreDeleteHooks } from '../hooks/delete-hooks.ts';
import { awaitOtherRun, runPostHooks, runPreHooks } from '../hooks/deploy-hooks.ts';
import { inOrder } from '../phase.ts';
import { awaitApproval, closePlan } from '../plan/await-approval.ts';
import { keepGenerated } from '../rendering/keep-generated.ts';
import { loadOrKeepActive } from '../rendering/load-objects.ts';
import { orKeepActive } from '../revisions/keep-active.ts';
import { apply, certify, noteCertified } from './apply.ts';
import { awaitDependencies } from './await-dependencies.ts';
import { checkHealth, noteHealthy, retireBundles } from './check-health.ts';
import { awaitUnpacked, followRollback } from './choose-target.ts';
import { awaitDependents, release, removeObjects } from './delete.ts';
import { noteOrphaning } from './deletion-policy.ts';
import { ensureBundle } from './ensure-bundle.ts';
import { guardDeletion, keepNamespace, pause } from './guard.ts';
import { noteInstalled } from './note-installed.ts';
import { awaitClassForHooks } from './unserved-deletion.ts';

/** Finds out whether the deployment may be changed. */
const guard = inOrder(guardDeletion, pause, keepNamespace);
/** Finds the Bundle to apply: that of the template, or the active one while that one must wait. */
const chooseTarget = inOrder(ensureBundle, followRollback, awaitUnpacked, awaitDependencies);
/** Renders the target's objects, if they may be applied. */
const renderTarget = inOrder(awaitApproval, loadOrKeepActive, keepGenerated, certify);
/** Before the first write, everything is recorded that a crash must not lose. */
const applyTarget = inOrder(
  awaitOtherRun,
  orKeepActive(inOrder(runPreHooks, apply, noteCertified)),
  runPostHooks,
);
const noteTarget = inOrder(noteInstalled, closePlan);
const finish = inOrder(checkHealth, noteHealthy, retireBundles);

/** The phases for a deployment that is not being deleted. */
export const rollOut = inOrder(guard, chooseTarget, renderTarget, applyTarget, noteTarget, finish);

/** The phases of a deletion, for a class that no process serves any more. */
export const deleteUnserved = inOrder(
  noteOrphaning,
  awaitDependents,
  awaitClassForHooks,
  removeObjects,
  release,
);

/** The phases of a deletion. */
export const deleteServed = inOrder(
  noteOrphaning,
  awaitDependents,
  runPreDeleteHooks,
  removeObjects,
  runPostDeleteHooks,
  release,
);
