import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeployment, BundleSource } from '../../api/v1alpha1/index.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import { templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
} from '../../test/helpers/bundle-deployment-fixture.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { aStoredBundle, aStoredDeployment, aTemplate } from '../../test/helpers/stored-objects.ts';
import { WaitingError } from '../errors.ts';
import { desiredBundle } from './desired-bundle.ts';
import { noteFor } from './revisions/noted-status.ts';
import { sourceReader } from './source-reader.ts';

const serviceAccount = { namespace: 'team-a', name: 'deployer' };
const ofTeam = { [annotation.sourceReader]: 'team-a/deployer' };
const ofCore = { [annotation.sourceReader]: '' };
const plain = aStoredDeployment();
const deployment = withAccount(plain);

function withAccount(of: BundleDeployment, account = serviceAccount): BundleDeployment {
  return { ...of, spec: { ...of.spec, serviceAccount: account } };
}

/** What the deployment's reconciler makes of a template. */
function made(ref: string, of: BundleDeployment = deployment): Bundle {
  const template = aTemplate(ref);
  return desiredBundle({ ...of, spec: { ...of.spec, template } }, templateHash(template));
}

function marked(bundle: Bundle, annotations: Record<string, string>): Bundle {
  return { ...bundle, metadata: { ...bundle.metadata, annotations } };
}

function orphaned(bundle: Bundle): Bundle {
  return { ...bundle, metadata: { ...bundle.metadata, ownerReferences: [] } };
}

function readerOf(bundle: Bundle, of: BundleDeployment | undefined = deployment) {
  return sourceReader(bundle, { get: ({ name }) => (name === 'demo' ? of : undefined) });
}

/** The reader where no process knows the deployment. */
function readerWithout(bundle: Bundle) {
  return sourceReader(bundle, { get: () => undefined });
}

describe('Secrets are read with the permissions of a ServiceAccount', () => {
  test('for a Bundle of the deployment’s template', () => {
    expect(readerOf(made('example.com/app:v1'))).toEqual(serviceAccount);
  });

  test('for a revision that the status names', () => {
    const status = { activeBundle: made('example.com/app:v0').metadata.name ?? '' };
    const of = { ...deployment, status };
    expect(readerOf(made('example.com/app:v0'), of)).toEqual(serviceAccount);
  });

  test('for a revision of a history that core has noted, and no other', () => {
    const earlier = made('example.com/app:v0');
    const bundle = earlier.metadata.name ?? '';
    const template = aTemplate('example.com/app:v0');
    const history = [{ revision: 1, bundle, template, appliedAt: '2026-01-01T00:00:00Z' }];
    const annotations = { [annotation.notedStatus]: noteFor(deployment, { history }) ?? '' };
    const noted = { ...deployment, metadata: { ...deployment.metadata, annotations } };
    expect(readerOf(earlier, { ...noted, status: { history } })).toEqual(serviceAccount);
    expect(readerOf(earlier, { ...deployment, status: { history } })).toBeInstanceOf(WaitingError);
  });
});

describe('Secrets are read with core’s permissions', () => {
  test.each<[string, Bundle]>([
    ['a Bundle without a deployment', aStoredBundle()],
    [
      'one in the content of a deployment',
      {
        ...made('example.com/app:v1'),
        metadata: { name: 'x', labels: { ...made('x').metadata.labels, [label.partOf]: 'x' } },
      },
    ],
  ])('for %s', (...[, bundle]) => {
    expect(readerOf(bundle)).toBe('core');
  });

  test.each(['example.com/app:v1', 'example.com/app:v0'])(
    'for a Bundle of a deployment without an account: %s',
    (ref) => {
      expect(readerOf(made(ref), plain)).toBe('core');
      expect(readerOf(marked(made(ref), ofCore), plain)).toBe('core');
    },
  );

  test('for one of a deployment that has no account any more', () => {
    expect(readerOf(marked(made('example.com/app:v1'), ofTeam), plain)).toBe('core');
  });

  test('for one of a deployment without an account that is gone and orphaned it', () => {
    const bundle = marked(orphaned(made('example.com/app:v1')), ofCore);
    expect(readerWithout(bundle)).toBe('core');
    expect(readerOf(bundle, plain)).toBe('core');
  });
});

describe('no Secret is read', () => {
  const ownTemplate = made('example.com/app:v1');
  const earlier = aStoredDeployment({ metadata: { uid: 'earlier' } });

  test.each<[string, Bundle, BundleDeployment | undefined]>([
    ['of another template, such as of a paused deployment', made('example.com/app:v0'), deployment],
    ['of another template and once core’s', marked(made('x.io/a:v1'), ofCore), deployment],
    [
      'of another source, with labels, owner and name of the template’s',
      { ...ownTemplate, spec: { provisionerClassName: 'plain', source: anImage('x') } },
      deployment,
    ],
    ['of an earlier deployment of that name', made('example.com/app:v1', earlier), deployment],
    ['of an earlier one, where none has an account', made('example.com/app:v1', earlier), plain],
    ['without an owner', orphaned(ownTemplate), deployment],
    ['without an owner, where the new one has no account', orphaned(ownTemplate), plain],
    ['of an account that the cache does not show yet', marked(made('x.io/a:v1'), ofTeam), plain],
  ])('for a Bundle %s', (...[, bundle, of]) => {
    const reader = readerOf(bundle, of);
    expect(reader).toBeInstanceOf(WaitingError);
    expect((reader as WaitingError).message).toContain('BundleDeployment "demo"');
  });

  test.each([
    ['unmarked', {}],
    ['of an account', ofTeam],
  ])('for one whose deployment is unknown: %s', (_, marks) => {
    const bundle = marked(orphaned(ownTemplate), marks);
    expect(readerWithout(bundle)).toEqual(
      new WaitingError(
        'BundleDeployment "demo" does not exist, so core cannot tell which Secrets this Bundle may use: create the BundleDeployment again, or delete the Bundle',
      ),
    );
  });
});

const pullSecret = 'corp-pull';
const image = { type: 'image', image: { ref: 'example.com/app:v1', pullSecret } } as const;
const sources: Readonly<Record<string, BundleSource>> = {
  'an image with a pull secret': image,
  'an upload': { type: 'upload', upload: {} },
  'git with a Secret': {
    type: 'git',
    git: { repository: 'https://x.io/r', ref: { tag: 'v1' }, auth: { secret: { name: 's' } } },
  },
  'HTTP with a Secret': {
    type: 'http',
    http: { url: 'https://x.io/a.tgz', auth: { secret: { name: 's' } } },
  },
  'a third party’s type': { type: 'acme', parameters: {} },
};

function aTemplateOf(source: BundleSource) {
  return { spec: { provisionerClassName: 'plain', source } };
}

describe('a new Bundle is marked with the reader of its Secrets', () => {
  async function annotationsOf(of: BundleDeployment) {
    const fixture = new BundleDeploymentFixture(of);
    await fixture.reconcile();
    return fixture.bundles.list()[0]?.metadata.annotations ?? {};
  }

  test.each(Object.entries(sources))('of %s', async (_, source) => {
    const of = aStoredDeployment({ template: aTemplateOf(source) });
    expect(await annotationsOf(of)).toMatchObject(ofCore);
    expect(await annotationsOf(withAccount(of))).toMatchObject(ofTeam);
  });

  test('whatever the template says', async () => {
    const template = { ...aTemplateOf(image), metadata: { annotations: { ...ofCore } } };
    expect(await annotationsOf(withAccount(aStoredDeployment({ template })))).toMatchObject(ofTeam);
  });

  test('not if it reads none', async () => {
    for (const each of [plain, deployment]) {
      expect(await annotationsOf(each)).not.toHaveProperty([annotation.sourceReader]);
    }
  });
});

describe('the mark of an existing Bundle', () => {
  const template = aTemplateOf(image);
  const core = aStoredDeployment({ template });

  test.each<[string, Record<string, string>, BundleDeployment, Record<string, string>]>([
    ['is added', {}, withAccount(core), ofTeam],
    ['is added for core', {}, core, ofCore],
    ['follows the account', { [annotation.sourceReader]: 'a/b' }, withAccount(core), ofTeam],
    ['follows its removal', ofTeam, core, ofCore],
    // Core has fetched its content: only a deployment without an account may adopt it.
    ['stays that of core', ofCore, withAccount(core), ofCore],
  ])('%s', async (...[, before, of, after]) => {
    const fixture = new BundleDeploymentFixture(of);
    fixture.have(aBundleOf(template, undefined, { annotations: before }));
    await fixture.reconcile();
    await fixture.reconcile();
    const annotations = fixture.client.peek({ name: nameOf(template) })?.metadata.annotations;
    expect(annotations).toEqual(after);
    const patches = fixture.client.patches.filter(
      ({ options }) => options.subresource === undefined,
    );
    expect(patches).toHaveLength(before === after ? 0 : 1);
  });
});

describe('the Bundle of an earlier deployment of the name', () => {
  async function applied(
    of: BundleDeployment,
    metadata: Bundle['metadata'],
  ): Promise<{ readonly error: unknown; readonly fixture: BundleDeploymentFixture }> {
    const fixture = new BundleDeploymentFixture(of);
    fixture.have(aBundleOf(of.spec.template, undefined, metadata));
    const error = await fixture.failure();
    return { error, fixture };
  }

  const owners = aBundleOf().metadata.ownerReferences ?? [];
  const foreign = owners.map((owner) => ({ ...owner, uid: 'earlier' }));

  describe.each<[string, typeof owners]>([
    ['orphaned', []],
    ['not yet deleted', foreign],
  ])('%s', (_, ownerReferences) => {
    test.each(Object.entries(sources))(
      'is not used with another account: %s',
      async (_, source) => {
        const of = withAccount(aStoredDeployment({ template: aTemplateOf(source) }));
        for (const annotations of [{}, ofCore, { [annotation.sourceReader]: 'team-b/deployer' }]) {
          const { error, fixture } = await applied(of, { ownerReferences, annotations });
          expect(error).toMatchObject({
            message: expect.stringContaining('ServiceAccount "team-a/deployer" may not') as string,
          });
          expect(fixture.applier.apply).not.toHaveBeenCalled();
          const name = nameOf(of.spec.template);
          expect(fixture.client.peek({ name })?.metadata.ownerReferences).toEqual(ownerReferences);
        }
      },
    );

    test('is used with the same account, without one, and if its content is public', async () => {
      const core = aStoredDeployment({ template: aTemplateOf(image) });
      for (const [each, annotations] of [
        [withAccount(core), ofTeam],
        [core, ofTeam],
        [core, {}],
        [deployment, {}],
        [deployment, { [annotation.sourceReader]: 'team-b/deployer' }],
      ] as const) {
        const { error, fixture } = await applied(each, { ownerReferences, annotations });
        expect(error).toBeUndefined();
        expect(fixture.applier.apply).toHaveBeenCalled();
      }
    });
  });

  test('is refused in one sentence that says what to do', async () => {
    const of = withAccount(aStoredDeployment({ template: aTemplateOf(image) }));
    const { error } = await applied(of, { ownerReferences: [], annotations: ofCore });
    expect(error).toMatchObject({
      message: `Bundle "${nameOf(of.spec.template)}" is of an earlier BundleDeployment and was fetched with Secrets or an upload that ServiceAccount "team-a/deployer" may not have: delete it, and core fetches the content again`,
    });
  });

  test('is refused too where only the API server knows it', async () => {
    const of = withAccount(aStoredDeployment({ template: aTemplateOf(image) }));
    const fixture = new BundleDeploymentFixture(of);
    fixture.client.put(aBundleOf(of.spec.template, undefined, { ownerReferences: [] }));
    expect(await fixture.failure()).toMatchObject({
      message: expect.stringContaining('is of an earlier BundleDeployment') as string,
    });
  });
});
