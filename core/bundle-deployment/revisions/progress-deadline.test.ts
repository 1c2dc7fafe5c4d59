import { expect, test } from 'vitest';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { Metrics } from '../../platform/observe/index.ts';

const metrics = new Metrics();

function aFixture(): BundleDeploymentFixture {
  const deployment = aStoredDeployment();
  const health = { progressDeadline: '30s' };
  const spec = { ...deployment.spec, health };
  const fixture = new BundleDeploymentFixture(
    { ...deployment, spec },
    { metrics: metrics.applying },
  );
  fixture.have(aBundleOf(v1));
  fixture.applier.health.mockReturnValue([{ message: 'Pod web: Pending' }]);
  return fixture;
}

const progressing = (fixture: BundleDeploymentFixture) =>
  fixture.conditions.find((text) => text.startsWith('Progressing'));

test('a Bundle that is not healthy in time is told of, and waited for all the same', async () => {
  const fixture = aFixture();
  await fixture.reconcile();
  expect(progressing(fixture)).toBeUndefined();
  expect(fixture.wakeAfter).toBe(30_000);
  fixture.clock.advance(30_000);
  await fixture.reconcile();
  expect(progressing(fixture)).toBe(
    `Progressing False ProgressDeadlineExceeded: Bundle "${nameOf(v1)}" is not healthy within 30s (Pod web: Pending)`,
  );
  expect(fixture.events.taken().join()).toContain('Warning ProgressDeadlineExceeded');
  expect(fixture.status.activeBundle).toBe(nameOf(v1));
  fixture.clock.advance(12_000);
  fixture.applier.health.mockReturnValue([]);
  await fixture.reconcile();
  expect(progressing(fixture)).toBeUndefined();
  expect(fixture.status.progress).toMatchObject({ secondsToHealthy: 42 });
  expect(await metrics.registry.metrics()).toContain('rukpak_time_to_healthy_seconds_sum 42');
  fixture.applier.health.mockReturnValue([{ message: 'sick again' }]);
  fixture.clock.advance(60_000);
  await fixture.reconcile();
  expect(progressing(fixture)).toBeUndefined();
});
