import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../api/object-schema/index.ts';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl, type KubectlResult } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const group = 'crd-e2e.example.com';
const upgradeAnnotation = 'core.rukpak.io/safe-crd-upgrade-validation';
const deletionAnnotation = 'core.rukpak.io/safe-crd-deletion-validation';

let kubectl: Kubectl;
let registry: string;
let system: System;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  const guard = ['--guard-crd-deletion'];
  const kubeconfig = plane.kubeconfig;
  system = await System.start({ kubeconfig, registry, flags: guard, installFlags: guard });
});

afterAll(async () => {
  await kubectl.deleteNamed('validatingwebhookconfiguration', ['crd-deletion-webhook'], {
    ignoreNotFound: true,
  });
  for (const kind of ['bundledeployments', 'bundles']) {
    await kubectl.deleteAll(kind, { ignoreNotFound: true });
  }
  const crds = (await kubectl.must(['get', 'crds', '--output=name'])).split('\n');
  const own = crds.filter((name) => name.endsWith(`.${group}`));
  // Others count what has the labels of an owner. The API server may still ask the guard.
  if (own.length > 0) {
    const remove = ['delete', ...own, '--ignore-not-found', '--timeout=600s'];
    await eventually(() => kubectl.must(remove), patiently);
  }
  await system?.stop();
});

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly spec?: JsonSchema;
}

interface CrdFields {
  readonly kind: string;
  readonly scope?: string;
  readonly metadata?: object;
  readonly versions?: readonly Version[];
  readonly spec?: object;
}

const anything: JsonSchema = { type: 'object', properties: { size: { type: 'integer' } } };
const withColor: JsonSchema = {
  type: 'object',
  required: ['color'],
  properties: { size: { type: 'integer' }, color: { type: 'string' } },
};

function nameOf(kind: string): string {
  return `${kind.toLowerCase()}s.${group}`;
}

function aCrd({
  kind,
  scope = 'Namespaced',
  metadata,
  versions = [{ name: 'v1' }],
  spec,
}: CrdFields) {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(kind), ...metadata },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      versions: versions.map(
        ({ name, served = true, storage = name === 'v1', spec: properties = anything }) => ({
          name,
          served,
          storage,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: properties } } },
        }),
      ),
      ...spec,
    },
  };
}

/** As a BundleDeployment would make it, but by hand. */
function anOwnedCrd(fields: CrdFields) {
  const labels = { 'core.rukpak.io/owner-kind': 'BundleDeployment' };
  return aCrd({ ...fields, metadata: { labels, ...fields.metadata } });
}

async function established(kind: string): Promise<void> {
  const wait = ['wait', '--for=condition=Established', '--timeout=300s'];
  await kubectl.must([...wait, `crd/${nameOf(kind)}`]);
}

async function create(kind: string, name: string, fields: object = {}): Promise<void> {
  const object = {
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name },
    spec: { size: 1 },
    ...fields,
  };
  // The API server may serve a new kind a moment after it is established.
  await eventually(() => kubectl.must(['apply', '-f', '-'], JSON.stringify(object)));
}

async function replace(crd: object, ...flags: string[]): Promise<KubectlResult> {
  return await kubectl.run(['apply', '--server-side', ...flags, '-f', '-'], JSON.stringify(crd));
}

function safetyText(kind: string, cause: string): string {
  return `failed to validate safety of UPDATE for CRD "${nameOf(kind)}" (NOTE: to disable this validation, set the "${upgradeAnnotation}" annotation to "false"): error validating existing CRs against new CRD's schema for "${nameOf(kind)}": ${cause}`;
}

/** What kubectl prints of a denial. */
function refusal(text: string, webhook = 'webhook.crdvalidator.io'): string {
  return `Error from server (${text}): admission webhook "${webhook}" denied the request: ${text}\n`;
}

describe('kubectl', () => {
  async function installed(fields: CrdFields, ...objects: readonly string[]): Promise<void> {
    expect((await replace(anOwnedCrd(fields))).stderr).toBe('');
    await established(fields.kind);
    for (const name of objects) await create(fields.kind, name);
  }

  test('a changed schema must be met by what there is', async () => {
    await installed({ kind: 'Changed' }, 'one');
    const versions = [{ name: 'v1', spec: withColor }];
    const { stderr } = await replace(anOwnedCrd({ kind: 'Changed', versions }));
    const cause =
      'existing custom object default/one failed validation for new schema version v1: [].spec.color: Required value';
    expect(stderr).toBe(refusal(safetyText('Changed', cause)));
    const metadata = { annotations: { [upgradeAnnotation]: 'false' } };
    expect((await replace(aCrd({ kind: 'Changed', versions, metadata }))).stderr).toBe('');
  });

  test('a default stands in for what is missing', async () => {
    await installed({ kind: 'Defaulted' }, 'one');
    const properties = { color: { type: 'string', default: 'red' } };
    const versions = [{ name: 'v1', spec: { ...withColor, properties } }];
    expect((await replace(anOwnedCrd({ kind: 'Defaulted', versions }))).stderr).toBe('');
  });

  test('several faults are a list; without a namespace there is a slash', async () => {
    await installed({ kind: 'Wide', scope: 'Cluster' }, 'one');
    const properties: JsonSchema['properties'] = { size: { type: 'integer', minimum: 5 } };
    const versions = [{ name: 'v1', spec: { ...withColor, properties } }];
    const { stderr } = await replace(anOwnedCrd({ kind: 'Wide', scope: 'Cluster', versions }));
    const cause =
      'existing custom object /one failed validation for new schema version v1: [[].spec.size: Invalid value: "integer": spec.size in body should be greater than or equal to 5, [].spec.color: Required value]';
    expect(stderr).toBe(refusal(safetyText('Wide', cause)));
  });

  test('a new version is checked, if nothing converts to it', async () => {
    await installed({ kind: 'Added' }, 'one');
    const versions = [{ name: 'v1' }, { name: 'v2', spec: withColor }];
    const { stderr } = await replace(anOwnedCrd({ kind: 'Added', versions }));
    const cause =
      'existing custom object default/one failed validation for new schema version v2: [].spec.color: Required value';
    expect(stderr).toBe(refusal(safetyText('Added', cause)));
    const clientConfig = { url: 'https://127.0.0.1:1/convert' };
    const webhook = { conversionReviewVersions: ['v1'], clientConfig };
    const spec = { conversion: { strategy: 'Webhook', webhook } };
    // Kept from happening: nobody converts, and no namespace could be deleted any more.
    const converted = anOwnedCrd({ kind: 'Added', versions, spec });
    expect((await replace(converted, '--dry-run=server')).stderr).toBe('');
  });

  test('a version that objects are stored in cannot go: the API server itself says so', async () => {
    await installed({ kind: 'Stored' }, 'one');
    const versions = [{ name: 'v2', storage: true }];
    const { stderr } = await replace(anOwnedCrd({ kind: 'Stored', versions }));
    expect(stderr).toContain('status.storedVersions[0]: Invalid value: "v1"');
  });

  test('a CRD without a deployment is not checked', async () => {
    expect((await replace(aCrd({ kind: 'Free' }))).stderr).toBe('');
    await established('Free');
    await create('Free', 'one');
    const versions = [{ name: 'v1', spec: withColor }];
    expect((await replace(aCrd({ kind: 'Free', versions }))).stderr).toBe('');
    await kubectl.deleteNamed('crd', [nameOf('Free')]);
  });

  test('more objects than a page has are all looked at', async () => {
    await installed({ kind: 'Many' });
    const items = Array.from({ length: 700 }, (_, index) => ({
      apiVersion: `${group}/v1`,
      kind: 'Many',
      metadata: { name: `m-${String(index).padStart(3, '0')}`, namespace: 'default' },
      spec: { size: index },
    }));
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await eventually(() => kubectl.must(['apply', '--server-side', '-f', '-'], list));
    const properties: JsonSchema['properties'] = { size: { type: 'integer', maximum: 698 } };
    const versions = [{ name: 'v1', spec: { type: 'object', properties } }];
    const { stderr } = await replace(anOwnedCrd({ kind: 'Many', versions }));
    const cause =
      'existing custom object default/m-699 failed validation for new schema version v1: [].spec.size: Invalid value: "integer": spec.size in body should be less than or equal to 698';
    expect(stderr).toBe(refusal(safetyText('Many', cause)));
  });
});

describe('a BundleDeployment', () => {
  const name = 'crd-upgrade';

  async function push(version: number, crd: object): Promise<BundleSource> {
    return await pushContent({ registry, name, version, files: plainFiles([crd]) });
  }

  async function deploy(source: BundleSource): Promise<void> {
    await kubectl.apply(aBundleDeployment({ name, source }));
  }

  test('keeps its version while an upgrade would break what there is', async () => {
    await deploy(await push(1, aCrd({ kind: 'Gizmo' })));
    await eventually(async () => {
      const installed = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
      expect(installed).toMatchObject({ status: 'True' });
    });
    await create('Gizmo', 'mine');
    const before = await kubectl.get('bundledeployment', name);
    const versions = [{ name: 'v1', spec: withColor }];
    await deploy(await push(2, aCrd({ kind: 'Gizmo', versions })));
    const cause =
      'existing custom object default/mine failed validation for new schema version v1: [].spec.color: Required value';
    const denial = `cannot patch "${nameOf('Gizmo')}" with kind CustomResourceDefinition: admission webhook "webhook.crdvalidator.io" denied the request: ${safetyText('Gizmo', cause)}`;
    await eventually(async () => {
      const live = await kubectl.get('bundledeployment', name);
      const installed = conditionOf(live, 'Installed');
      expect(installed).toMatchObject({
        status: 'False',
        reason: 'UpgradeFailed',
        message: denial,
      });
      const { activeBundle } = live['status'] as BundleDeploymentStatus;
      expect(activeBundle).toBe((before['status'] as BundleDeploymentStatus).activeBundle);
    });
    const { spec } = await kubectl.get('crd', nameOf('Gizmo'));
    expect(JSON.stringify(spec)).not.toContain('color');
  });

  test('is upgraded where the CRD says that it may', async () => {
    const metadata = { annotations: { [upgradeAnnotation]: 'false' } };
    const versions = [{ name: 'v1', spec: withColor }];
    const activeBundle = async (): Promise<string | undefined> => {
      const { status } = await kubectl.get('bundledeployment', name);
      return (status as BundleDeploymentStatus).activeBundle;
    };
    const before = await activeBundle();
    await deploy(await push(3, aCrd({ kind: 'Gizmo', versions, metadata })));
    // What is installed is Installed while the new version is unpacked.
    await eventually(async () => expect(await activeBundle()).not.toBe(before));
    const installed = conditionOf(await kubectl.get('bundledeployment', name), 'Installed');
    expect(installed).toMatchObject({ status: 'True', reason: 'InstallationSucceeded' });
    expect(JSON.stringify((await kubectl.get('crd', nameOf('Gizmo')))['spec'])).toContain('color');
  });

  test('does not take custom resources with it when it is deleted', async () => {
    const fields = { spec: { color: 'red' } };
    await kubectl.must(['create', 'namespace', 'crd-e2e']);
    await create('Gizmo', 'other', {
      ...fields,
      metadata: { name: 'other', namespace: 'crd-e2e' },
    });
    const text = (count: number) =>
      `refusing to delete CRD "${nameOf('Gizmo')}": ${count} custom resources of it exist, e.g. ${count === 2 ? 'crd-e2e/other' : 'default/mine'}; delete them first, or set the annotation "${deletionAnnotation}" to "false"`;
    const remove = ['delete', 'crd', nameOf('Gizmo')];
    expect((await kubectl.run(remove)).stderr).toBe(refusal(text(2), 'deletion.crdvalidator.io'));
    await kubectl.deleteNamed('namespace', ['crd-e2e']);
    expect((await kubectl.run(remove)).stderr).toBe(refusal(text(1), 'deletion.crdvalidator.io'));
    await kubectl.deleteNamed('bundledeployment', [name], { wait: false });
    await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      const { message } = conditionOf(deployment, 'Progressing') ?? {};
      expect(message).toContain('1 custom resources of it exist, e.g. default/mine');
    }, patiently);
    await kubectl.must(['get', 'gizmos.crd-e2e.example.com', 'mine']);
    await kubectl.deleteNamed('gizmos.crd-e2e.example.com', ['mine']);
    await eventually(async () => {
      expect(await kubectl.exists('bundledeployment', name)).toBe(false);
      expect(await kubectl.exists('crd', nameOf('Gizmo'))).toBe(false);
    }, patiently);
  });

  test('its CRD is deleted with everything where it says so', async () => {
    const metadata = { annotations: { [deletionAnnotation]: 'false' } };
    expect((await replace(anOwnedCrd({ kind: 'Doomed', metadata }))).stderr).toBe('');
    await established('Doomed');
    await create('Doomed', 'one');
    await kubectl.deleteNamed('crd', [nameOf('Doomed')]);
  });
});
