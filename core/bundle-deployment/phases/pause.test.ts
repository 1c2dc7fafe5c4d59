import { beforeEach, expect, test } from 'vitest';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';

let fixture: BundleDeploymentFixture;

beforeEach(async () => {
  fixture = new BundleDeploymentFixture();
  fixture.have(aBundleOf(v1));
  await fixture.reconcile();
  fixture.events.taken();
  fixture.changeSpec({ paused: true });
});

const told =
  'spec.paused is true: core changes nothing in the cluster for BundleDeployment "demo". To continue, run "rukpakctl resume demo"';

test('a paused deployment says so, and the rest of its status stays', async () => {
  const { conditions } = fixture;
  await fixture.reconcile();
  expect(fixture.conditions).toEqual([...conditions, `Progressing False Paused: ${told}`]);
  expect(fixture.events.taken()).toEqual([`Normal Paused: ${told}`]);
  fixture.changeSpec({ paused: false });
  await fixture.reconcile();
  expect(fixture.conditions).toEqual(conditions);
});

test('a paused deployment changes nothing: no Bundle, no object, nothing retired', async () => {
  fixture.have(aBundleOf(v2));
  fixture.changeSpec({ template: v2 });
  await fixture.reconcile();
  await fixture.reconcile();
  expect(fixture.client.calls).toEqual(['patch', 'patch']);
  expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
});

test('the health of a paused deployment goes on being told', async () => {
  fixture.applier.health.mockReturnValue([{ message: 'broken' }]);
  expect((await fixture.reconcile()).requeueAfter).toBeGreaterThan(0);
  expect(fixture.conditions).toContain('Healthy False Unhealthy: broken');
  fixture.applier.health.mockReturnValue([]);
  expect(await fixture.reconcile()).toEqual({});
  expect(fixture.conditions).toContain('Healthy True Healthy: BundleDeployment is healthy');
});

test('a process that has just started does not call a paused deployment healthy', async () => {
  fixture.applier.health.mockReturnValue([{ message: 'broken' }]);
  await fixture.reconcile();
  fixture.applier.health.mockReturnValue([]);
  fixture.applier.knows.mockReturnValue(false);
  await fixture.reconcile();
  expect(fixture.conditions).toContain('Healthy False Unhealthy: broken');
});

test('a new deployment that is paused gets no Bundle', async () => {
  fixture = new BundleDeploymentFixture();
  fixture.changeSpec({ paused: true });
  expect(await fixture.reconcile()).toEqual({});
  expect(fixture.conditions).toEqual([`Progressing False Paused: ${told}`]);
  expect(fixture.bundleNames).toEqual([]);
});

test('a paused deployment that somebody has replaced gets its finalizer back', async () => {
  const { metadata, status = {}, ...rest } = fixture.live;
  const { labels: _, ...replaced } = metadata;
  const groupKinds = ['ConfigMap'];
  fixture.change({
    ...rest,
    metadata: { ...replaced, finalizers: [] },
    status: { ...status, groupKinds },
  });
  await fixture.reconcile();
  expect(fixture.live.metadata.finalizers).toEqual(['core.rukpak.io/delete-objects']);
});
