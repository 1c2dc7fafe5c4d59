import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { TerminalError } from '../../errors.ts';

function withPassword(password: string): KubernetesObject {
  return { ...anObject('ConfigMap'), data: { password } };
}

let fixture: BundleDeploymentFixture;
/** The value of an input of which no watch tells the version. */
let input: string;

/** Installed, with upgradePolicy Manual. */
beforeEach(async () => {
  const { spec, ...deployment } = aStoredDeployment();
  const manual = { ...spec, upgradePolicy: 'Manual' } as const;
  fixture = new BundleDeploymentFixture({ ...deployment, spec: manual });
  input = 'approved';
  fixture.facts.prepare.mockImplementation(async () => ({
    version: undefined,
    read: async () => ({ inputs: [Buffer.from(input)] }),
  }));
  fixture.handler.mockImplementation(async (_, __, { inputs }) => [
    withPassword(String(inputs[0])),
  ]);
  fixture.have(aBundleOf());
  await settle();
  expect(fixture.status.activeBundle).toBe(nameOf());
  fixture.applier.apply.mockClear();
});

async function settle(): Promise<void> {
  while ((await fixture.reconcile()).requeueAfter === 0);
}

const applied = () => fixture.applier.apply.mock.calls.flatMap(([{ objects }]) => objects);

test('an input that changes after core has looked whether it is approved is not applied', async () => {
  fixture.handler.mockImplementationOnce(async () => {
    input = 'changed';
    return [withPassword('approved')];
  });
  await fixture.reconcile();
  expect(applied()).toEqual([withPassword('approved')]);
});

test('objects of which core could not find out whether they are approved are not applied', async () => {
  const message = 'the class does not answer';
  fixture.handler.mockImplementationOnce(async () => {
    input = 'changed';
    throw new Error(message);
  });
  expect(await fixture.failure()).toMatchObject({ message: expect.stringContaining(message) });
  expect(applied()).not.toContainEqual(withPassword('changed'));
});

test('the installed Bundle gets no changed input while an approved one cannot be rendered', async () => {
  fixture.have(aBundleOf(v2));
  fixture.changeSpec({ template: v2 });
  await fixture.reconcile();
  expect(fixture.status.approval?.bundle).toBe(nameOf(v2));
  const render = fixture.handler.getMockImplementation();
  input = 'changed';
  fixture.handler.mockImplementation(async (...given) => {
    const isNew = fixture.load.mock.lastCall?.[0].metadata.name === nameOf(v2);
    if (isNew || render === undefined) throw new TerminalError('no such size');
    return await render(...given);
  });
  expect(await fixture.failure()).toBeUndefined();
  expect(fixture.conditions.join()).toContain('no such size');
  expect(applied()).toEqual([withPassword('approved')]);
});
