import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { type BundleDeploymentStatus, label } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushContent } from '../helpers/push-content.ts';
import { secretData } from '../helpers/secret-volume.ts';
import { System } from '../helpers/system.ts';
import { gaugeApi, widgetApi } from '../helpers/webhook-operator/apis.ts';
import { type WebhookOperator, webhookOperatorFiles } from '../helpers/webhook-operator/bundle.ts';
import { OperatorProcess } from '../helpers/webhook-operator/process.ts';
import { requestsDuring } from '../helpers/webhook-operator/request-stream.ts';
import {
  aWidget,
  gaugesAreServed,
  widgetsComeAndGo,
} from '../helpers/webhook-operator/requests.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const namespaces = ['webhooks-own', 'webhooks-watched', 'webhooks-other'];
const widgets = widgetApi.crd;
const { group, version, plural } = gaugeApi;
/** Of every kind that the operator has made objects of. */
const kindsOfOperators = [
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'apiservices',
  'customresourcedefinitions',
  'clusterroles',
  'clusterrolebindings',
  'rolebindings',
  'services',
  'secrets',
  'deployments',
  'serviceaccounts',
];

let system: System;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  // The shortest lifetime that there is: another certificate comes after two thirds of it.
  const flags = ['--serving-certificate-lifetime=1m'];
  system = await System.start({ kubeconfig, registry, flags });
  await kubectl.apply(...namespaces.map(aNamespace));
});

afterAll(async () => {
  await kubectl.deleteNamed('namespace', namespaces, { wait: false, ignoreNotFound: true });
  await system?.stop();
});

async function cleanUp(): Promise<void> {
  await kubectl.run(['delete', widgets, '--all', '--all-namespaces', '--timeout=60s']);
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await operator?.stop();
  operator = undefined;
}

function aNamespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

async function rollOut(content: WebhookOperator, config?: JsonObject): Promise<void> {
  const { name, version = 1 } = content;
  const files = webhookOperatorFiles(content);
  const source = await pushContent({ registry, name, version, files });
  const className = 'core-rukpak-io-registry';
  const deployment = aBundleDeployment({ name, className, source }) as KubernetesObject;
  const spec = { ...(deployment['spec'] as object), ...(config === undefined ? {} : { config }) };
  await kubectl.apply({ ...deployment, spec });
}

/** Waits until the present spec is what is installed. */
async function installed(name: string): Promise<void> {
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const { observedGeneration } = deployment['status'] as BundleDeploymentStatus;
    expect(observedGeneration).toBe(deployment.metadata.generation);
    expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
  });
}

/** Objects of a kind that a deployment has. */
async function owned(kind: string, name: string): Promise<readonly KubernetesObject[]> {
  return await kubectl.list(kind, `${label.ownerName}=${name}`);
}

/** Of the one webhook that a configuration has. */
function webhookName(configuration: KubernetesObject): string | undefined {
  const [webhook] = configuration['webhooks'] as readonly { readonly name: string }[];
  return webhook?.name;
}

/**
 * Tries to make a widget until that is answered so: the API server calls webhooks, and stores what is
 * of a kind, a moment after it was told of them.
 */
async function creating(widget: object, answer: string, ...flags: string[]): Promise<void> {
  await eventually(async () => {
    const create = ['create', ...flags, '-f', '-'];
    const { stdout, stderr } = await kubectl.run(create, JSON.stringify(widget));
    expect(stdout + stderr).toContain(answer);
  });
}

async function isRefused(widget: object, answer: string): Promise<void> {
  await creating(widget, answer, '--dry-run=server');
}

async function isCreated(widget: object): Promise<void> {
  await creating(widget, 'created');
}

async function specOf(name: string, version: string): Promise<unknown> {
  const resource = `widgets.${version}.${widgetApi.group}`;
  return (await kubectl.get(resource, name, 'default'))['spec'];
}

async function conversionStrategy(): Promise<unknown> {
  const { spec } = (await kubectl.get('customresourcedefinition', widgets)) as unknown as {
    readonly spec: { readonly conversion: { readonly strategy: string } };
  };
  return spec.conversion.strategy;
}

async function gaugesAreThere(): Promise<void> {
  await eventually(async () => {
    const gauges = await kubectl.must(['get', '--raw', `/apis/${group}/${version}/${plural}`]);
    expect(JSON.parse(gauges)).toMatchObject({ kind: 'GaugeList', items: [{ value: 42 }] });
  });
  const available = ['wait', `apiservice/${version}.${group}`, '--for=condition=Available'];
  await kubectl.must([...available, '--timeout=300s']);
}

async function may(account: string, ...wanted: readonly string[]): Promise<boolean> {
  const as = `--as=system:serviceaccount:${account}`;
  return (await kubectl.run(['auth', 'can-i', ...wanted, as])).code === 0;
}

describe('an operator of all namespaces', () => {
  const name = 'widget-operator';
  const namespace = `${name}-system`;
  const secret = `${name}-service-cert`;
  /** A widget of v1alpha1 with size 3, in v1. */
  const converted = { replicas: 3, color: 'blue' };

  beforeAll(async () => {
    await rollOut({ name });
    await installed(name);
    operator = await OperatorProcess.start({ kubectl, namespace, name });
    // The API server asks each of its parts a moment after it was told of it.
    await isRefused(aWidget({ name: 'large', replicas: 11 }), 'at most 10 replicas');
    await isCreated(aWidget({ name: 'kept', size: 3 }));
    await eventually(async () => expect(await specOf('kept', 'v1')).toEqual(converted));
    await gaugesAreThere();
  });

  afterAll(cleanUp);

  test('refuses, changes and converts custom resources', async () => {
    await isRefused(
      aWidget({ name: 'large', replicas: 11 }),
      'admission webhook "vwidget.e2e.example.com" denied the request: at most 10 replicas',
    );
    await isCreated(aWidget({ name: 'small', size: 3 }));
    expect(await specOf('small', 'v1')).toEqual(converted);
    expect(await specOf('small', 'v1alpha1')).toEqual({ size: 3, color: 'blue' });
  });

  test('serves an API, and may ask who its callers are', async () => {
    await gaugesAreThere();
    await kubectl.must([
      'wait',
      `bundledeployment/${name}`,
      '--for=condition=Healthy',
      '--timeout=300s',
    ]);
    const authentication = 'configmap/extension-apiserver-authentication';
    const reading = ['get', authentication, '--namespace=kube-system'];
    const account = `${namespace}:${name}`;
    await eventually(async () => {
      expect(await may(account, ...reading)).toBe(true);
      expect(await may(account, 'create', 'tokenreviews.authentication.k8s.io')).toBe(true);
    });
    expect(await may(`${namespace}:default`, ...reading)).toBe(false);
  });

  test('has its certificates replaced while requests are under way, and none fails', {
    tags: ['long'],
  }, async () => {
    const { 'tls.crt': first, 'ca.crt': authority = '' } = await secretData(
      kubectl,
      secret,
      namespace,
    );
    const replaced = eventually(async () => {
      const data = await secretData(kubectl, secret, namespace);
      expect(data['tls.crt']).not.toBe(first);
      // The first certificate has expired, and nobody trusts its authority any more.
      expect(data['ca.crt']).not.toContain(authority.trim());
    });
    const steps = [widgetsComeAndGo, gaugesAreServed];
    const { turns, failures } = await requestsDuring(replaced, kubeconfig, steps);
    expect(failures).toEqual([]);
    // Some four hundred on a machine that has nothing else to do.
    expect(turns).toBeGreaterThan(20);
    expect(operator?.log).toContain('another certificate');
  });

  test('has the webhooks of its next version and no others', async () => {
    const [before] = await owned('mutatingwebhookconfigurations', name);
    const parts = ['validating-v2', 'mutating', 'conversion', 'api'] as const;
    await rollOut({ name, version: 2, parts });
    await eventually(async () => {
      const validating = await owned('validatingwebhookconfigurations', name);
      expect(validating.map(webhookName)).toEqual(['vwidget-v2.e2e.example.com']);
    });
    await installed(name);
    const [after] = await owned('mutatingwebhookconfigurations', name);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    await isRefused(
      aWidget({ name: 'larger', replicas: 6 }),
      'admission webhook "vwidget-v2.e2e.example.com" denied the request: at most 5 replicas',
    );
  });

  test('loses what it no longer serves, and has it again', async () => {
    await rollOut({ name, version: 3, parts: ['validating'] });
    await eventually(async () => {
      expect(await owned('mutatingwebhookconfigurations', name)).toEqual([]);
      expect(await owned('apiservices', name)).toEqual([]);
      expect(
        await kubectl.exists('rolebinding', `${name}-service-auth-reader`, 'kube-system'),
      ).toBe(false);
    });
    await installed(name);
    expect(await conversionStrategy()).toBe('None');
    await rollOut({ name, version: 4 });
    await eventually(async () => expect(await conversionStrategy()).toBe('Webhook'));
    await installed(name);
    await gaugesAreThere();
    await eventually(async () => {
      expect(await specOf('kept', 'v1alpha1')).toEqual({ size: 3, color: 'blue' });
    });
  });

  test('leaves nothing', async () => {
    await kubectl.deleteAll(widgets, { namespace: 'default' });
    await kubectl.deleteNamed('bundledeployment', [name]);
    await eventually(async () => {
      for (const kind of kindsOfOperators) expect(await owned(kind, name)).toEqual([]);
      expect(await kubectl.exists('namespace', namespace)).toBe(false);
    }, patiently);
  });
});

test('an operator that no longer answers is deleted with its custom resources', async () => {
  const name = 'silent-operator';
  await rollOut({ name });
  await installed(name);
  operator = await OperatorProcess.start({ kubectl, namespace: `${name}-system`, name });
  await isCreated(aWidget({ name: 'small', size: 3 }));
  await operator.stop();
  await isRefused(
    aWidget({ name: 'smaller', replicas: 1 }),
    'failed calling webhook "mwidget.e2e.example.com"',
  );
  await kubectl.deleteNamed('bundledeployment', [name]);
  await eventually(async () => {
    for (const kind of kindsOfOperators) expect(await owned(kind, name)).toEqual([]);
    expect(await kubectl.exists('namespace', `${name}-system`)).toBe(false);
  }, patiently);
});

test('a CRD that outlives its operator and the conversion webhook is told of', async () => {
  const name = 'leaving-operator';
  await rollOut({ name });
  await installed(name);
  const spec = { deletionPolicy: 'KeepCRDs' };
  await kubectl.must([
    'patch',
    'bundledeployment',
    name,
    '--type=merge',
    '-p',
    JSON.stringify({ spec }),
  ]);
  await kubectl.deleteNamed('bundledeployment', [name]);
  expect(await conversionStrategy()).toBe('Webhook');
  await eventually(async () => {
    const events = (await kubectl.list('events')).filter(
      ({ reason }) => reason === 'ConversionLost',
    );
    const service = `Service/${name}-system/${name}-service of its conversion webhook`;
    expect(events).toContainEqual(
      expect.objectContaining({
        involvedObject: expect.objectContaining({ name }),
        type: 'Warning',
        message: expect.stringContaining(
          `CustomResourceDefinition/${widgets} stays, and core deletes ${service}`,
        ),
      }),
    );
  });
  await kubectl.deleteNamed('customresourcedefinition', [widgets]);
});

describe('an operator of some namespaces', () => {
  afterEach(cleanUp);

  test('is asked about those alone', async () => {
    const name = 'scoped-operator';
    const namespace = 'webhooks-own';
    const config = { installNamespace: namespace, watchNamespace: 'webhooks-watched' };
    await rollOut({ name, modes: ['SingleNamespace'], parts: ['validating'] }, config);
    await installed(name);
    operator = await OperatorProcess.start({ kubectl, namespace, name });
    const large = { name: 'large', replicas: 11 };
    await isRefused(
      aWidget({ ...large, namespace: 'webhooks-watched' }),
      'denied the request: at most 10 replicas',
    );
    await isCreated(aWidget({ ...large, namespace: 'webhooks-other' }));
  });

  test('may not convert', async () => {
    const name = 'converting-operator';
    const modes = ['AllNamespaces', 'SingleNamespace'];
    await rollOut({ name, modes, parts: ['conversion'] }, { watchNamespace: 'webhooks-watched' });
    await eventually(async () => {
      const deployment = await kubectl.get('bundledeployment', name);
      expect(conditionOf(deployment, 'HasValidBundle')).toMatchObject({
        status: 'False',
        message: expect.stringContaining(
          'bundle contains conversion webhook "cwidget.e2e.example.com" and is to watch namespaces [webhooks-watched] - conversion webhooks are only supported in AllNamespaces install mode',
        ),
      });
    });
    // The one of the test before is Kubernetes' to collect.
    await eventually(async () => {
      expect(await kubectl.exists('customresourcedefinition', widgets)).toBe(false);
    }, patiently);
  });
});
