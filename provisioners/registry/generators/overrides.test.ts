import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  aRegistryBundle,
  aStrategyDeployment,
} from '../../../test/helpers/registry-bundle.ts';
import type { DeploymentOverrides } from '../deployment-overrides.ts';
import type { Installation } from '../installation.ts';
import { deployments } from './deployments.ts';

/** The pod spec, without what every container is given. */
function podSpecWith(podSpec: JsonObject, overrides: DeploymentOverrides): unknown {
  const template = { metadata: {}, spec: podSpec };
  const installation = anInstallation({ overrides });
  const [deployment] = rendered(template, installation);
  const { spec } = deployment as unknown as { spec: { template: { spec: JsonObject } } };
  return spec.template.spec;
}

function rendered(template: JsonObject, installation: Installation) {
  const csv = aCsv({
    annotations: { csv: 'csv' },
    deployments: [aStrategyDeployment({ spec: { template } })],
  });
  return deployments(aRegistryBundle({ csv }), installation);
}

const a = { name: 'A', value: 'a' };
const b = { name: 'B', value: 'b' };

describe('env', () => {
  it('is for every container and for no init container', () => {
    const podSpec = { containers: [{ name: 'x' }, { name: 'y' }], initContainers: [{ name: 'i' }] };
    expect(podSpecWith(podSpec, { env: [a] })).toEqual({
      containers: [
        { name: 'x', env: [a] },
        { name: 'y', env: [a] },
      ],
      initContainers: [{ name: 'i' }],
    });
  });

  it('replaces a variable where it stands and appends the others in their order', () => {
    const other = { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
    expect(podSpecWith({ containers: [{ env: [b, other] }] }, { env: [{ name: 'C' }, a] })).toEqual(
      { containers: [{ env: [b, a, { name: 'C' }] }] },
    );
  });

  it('has the last of two with one name', () => {
    const later = { name: 'A', value: 'later' };
    expect(podSpecWith({ containers: [{}] }, { env: [a, later] })).toEqual({
      containers: [{ env: [later] }],
    });
  });
});

describe('envFrom', () => {
  const source = { configMapRef: { name: 'a' } };

  it('is appended where it is not there yet', () => {
    const others = [
      { prefix: 'P', configMapRef: { name: 'a' } },
      { secretRef: { name: 'a' } },
      { configMapRef: { name: 'a', optional: false } },
    ];
    const written = [{ prefix: '', configMapRef: { name: 'a' } }];
    expect(
      podSpecWith({ containers: [{ envFrom: written }] }, { envFrom: [source, ...others] }),
    ).toEqual({ containers: [{ envFrom: [...written, ...others] }] });
  });

  it('is the first in an empty list', () => {
    expect(podSpecWith({ containers: [{}] }, { envFrom: [source] })).toEqual({
      containers: [{ envFrom: [source] }],
    });
  });
});

describe('volumes and volumeMounts', () => {
  it('replace those of the same name, and others come after them', () => {
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'c', configMap: { name: 'c' } },
    ];
    const written = [{ name: 'a', secret: { secretName: 'a' } }, { name: 'b' }];
    expect(podSpecWith({ volumes: written }, { volumes })).toEqual({
      volumes: [volumes[0], { name: 'b' }, volumes[1]],
    });
    const mounts = [
      { name: 'a', mountPath: '/new' },
      { name: 'c', mountPath: '/c' },
    ];
    const mounted = [{ name: 'a', mountPath: '/old' }];
    expect(
      podSpecWith({ containers: [{ volumeMounts: mounted }, {}] }, { volumeMounts: mounts }),
    ).toEqual({ containers: [{ volumeMounts: mounts }, { volumeMounts: mounts }] });
  });

  it('mount one volume at several places where it was not mounted', () => {
    const volumeMounts = [
      { name: 'a', mountPath: '/1' },
      { name: 'a', mountPath: '/2' },
    ];
    expect(podSpecWith({ containers: [{}] }, { volumeMounts })).toEqual({
      containers: [{ volumeMounts }],
    });
  });
});

describe('tolerations', () => {
  it('are appended unless there is the same', () => {
    const written = [{ key: 'a', operator: 'Exists' }];
    const tolerations = [
      { operator: 'Exists', key: 'a', value: '' },
      { key: 'a', operator: 'Exists', effect: 'NoSchedule' },
    ];
    expect(podSpecWith({ tolerations: written }, { tolerations })).toEqual({
      tolerations: [...written, tolerations[1]],
    });
    expect(podSpecWith({}, { tolerations })).toEqual({ tolerations });
  });
});

describe('resources and nodeSelector', () => {
  it('replace existing values, an empty one too', () => {
    const podSpec = {
      nodeSelector: { a: 'a' },
      containers: [{ resources: { limits: { cpu: 1 } } }, {}],
    };
    const resources = { requests: { memory: '1Gi' } };
    expect(podSpecWith(podSpec, { resources, nodeSelector: { b: 'b' } })).toEqual({
      nodeSelector: { b: 'b' },
      containers: [{ resources }, { resources }],
    });
    expect(podSpecWith(podSpec, { resources: {}, nodeSelector: {} })).toEqual({
      nodeSelector: {},
      containers: [{ resources: {} }, { resources: {} }],
    });
  });
});

describe('affinity', () => {
  const nodeAffinity = { preferred: [1] };
  const podAffinity = { preferred: [2] };
  const podAntiAffinity = { preferred: [3] };
  const all = { nodeAffinity, podAffinity, podAntiAffinity };

  it.each<[JsonObject, JsonObject]>([
    [{ podAffinity: nodeAffinity }, { ...all, podAffinity: nodeAffinity }],
    [{ podAntiAffinity: {} }, { nodeAffinity, podAffinity }],
    [{ podAffinity: { preferred: null } }, { nodeAffinity, podAntiAffinity }],
    [{ podAffinity: null, nodeAffinity }, all],
  ])('%j replaces or takes away each kind by itself', (affinity, expected) => {
    expect(podSpecWith({ affinity: all }, { affinity })).toEqual({ affinity: expected });
  });

  it('is the one that is given where there was none', () => {
    expect(podSpecWith({}, { affinity: { nodeAffinity } })).toEqual({ affinity: { nodeAffinity } });
    expect(podSpecWith({}, { affinity: { nodeAffinity: {} } })).toEqual({});
  });

  it('is removed when it is given empty, or its last kind is', () => {
    expect(podSpecWith({ affinity: all }, { affinity: {} })).toEqual({});
    const podSpec = { affinity: { nodeAffinity } };
    expect(podSpecWith(podSpec, { affinity: { nodeAffinity: {} } })).toEqual({});
  });
});

describe('annotations', () => {
  it('are on Deployment and pods where the bundle does not say otherwise', () => {
    const annotations = { csv: 'mine', pod: 'mine', new: 'mine', 'olm.targetNamespaces': 'mine' };
    const template = { metadata: { annotations: { pod: 'pod' } } };
    const objects = rendered(template, anInstallation({ overrides: { annotations } }));
    expect(objects[0]?.metadata.annotations).toEqual({
      csv: 'csv',
      pod: 'mine',
      new: 'mine',
      'olm.targetNamespaces': '',
    });
    expect(objects[0]).toMatchObject({
      spec: {
        template: {
          metadata: {
            annotations: { csv: 'mine', pod: 'pod', new: 'mine', 'olm.targetNamespaces': '' },
          },
        },
      },
    });
  });
});

describe('proxies of the cluster', () => {
  const proxy = { httpProxy: 'http://p:1', httpsProxy: '', noProxy: '.svc' };
  const cluster = { version: 'v1.36.3', apiVersions: [], systemNamespace: 's', proxy };
  const http = { name: 'HTTP_PROXY', value: 'http://p:1' };
  const no = { name: 'NO_PROXY', value: '.svc' };

  function envWith(env: readonly JsonObject[], overrides: DeploymentOverrides): unknown {
    const template = { spec: { containers: [{ env }] } };
    const [object] = rendered(template, anInstallation({ cluster, overrides }));
    return object;
  }

  it('are in every container, whatever the CSV says, but for those that are not set', () => {
    const env = [
      { name: 'HTTP_PROXY', value: 'csv' },
      { name: 'HTTPS_PROXY', value: 'csv' },
    ];
    expect(envWith(env, { env: [a] })).toMatchObject({
      spec: {
        template: { spec: { containers: [{ env: [http, env[1], a, no] }] } },
      },
    });
  });

  it('are left to the config where that sets one of them', () => {
    const none = { name: 'NO_PROXY', value: '' };
    expect(envWith([], { env: [none] })).toMatchObject({
      spec: { template: { spec: { containers: [{ env: [none] }] } } },
    });
  });
});
