import { expect, test } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { someHealthRules } from '../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { DriftDetector } from '../drift/drift.ts';
import { noteDrift } from '../drift/drift-policy.ts';
import { Inventory } from '../inventory/inventory.ts';
import { OwnerStates } from '../state/owner-state.ts';
import { readinessOf } from './stage-readiness.ts';

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'shop' },
});

const missing = '(/v1, Kind=ConfigMap)(shop/settings): configmaps "settings" not found';

/** What a later stage is told of an object that somebody deleted, under spec.drift.mode. */
function problemAfterDeletion(mode: 'Warn' | 'Off') {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const [inventory, owners] = [new Inventory(), new OwnerStates(clock)];
  const [rules, notify] = [someHealthRules(), () => undefined];
  const drift = new DriftDetector({ inventory, owners, rules, clock, signal, notify });
  const deployment = aStoredDeployment();
  const owner = { ...deployment, spec: { ...deployment.spec, drift: { mode } } };
  const run = { owner, waitForReady: true, state: owners.of('demo') };
  noteDrift(run, { inventory, drift }, [{ desired, live: undefined, repair: true }]);
  const upgrade = [{ desired, live: undefined, repair: false }];
  return readinessOf(run, upgrade, drift)?.(desired);
}

test.each(['Warn', 'Off'] as const)(
  'a stage that waits for what others deleted says that mode %s lets it be',
  (mode) => {
    expect(problemAfterDeletion(mode)).toBe(
      `${missing} (others changed or deleted it, and nothing is put back while spec.drift.mode is ${mode})`,
    );
  },
);
