import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../core/sdk.ts';
import { overrideNames, readOverrides } from './deployment-overrides.ts';

const every = {
  env: [
    { name: 'LEVEL', value: 'debug' },
    { name: 'KEY', valueFrom: { secretKeyRef: { name: 'a', key: 'k' } } },
    { name: 'EMPTY' },
  ],
  envFrom: [{ prefix: 'P_', configMapRef: { name: 'a', optional: true } }],
  volumes: [{ name: 'v', emptyDir: {} }],
  volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
  tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }],
  resources: { limits: { cpu: 1, memory: '64Mi' } },
  nodeSelector: { disk: 'ssd' },
  affinity: { nodeAffinity: {}, podAffinity: null },
  annotations: { 'example.com/a': 'yes' },
};

describe('readOverrides', () => {
  it('takes every field as written', () => {
    expect(Object.keys(every)).toEqual(overrideNames);
    expect(readOverrides(every)).toEqual(every);
  });

  it('returns none for an empty config', () => {
    expect(readOverrides({})).toEqual({});
    expect(readOverrides({ env: null, watchNamespace: 'a' })).toEqual({});
    const requests = { cpu: 0.5, memory: '+1.5Gi', disk: '.5', a: '1e-3', b: '100k', c: '1E' };
    expect(readOverrides({ resources: { limits: null, requests } })).toEqual({
      resources: { limits: null, requests },
    });
    expect(readOverrides({ resources: {}, nodeSelector: {}, env: [] })).toEqual({
      resources: {},
      nodeSelector: {},
      env: [],
    });
  });

  it.each([
    [{ env: { A: 'a' } }, 'env is an object: it must be a list'],
    [{ env: ['A=a'] }, 'env[0] is a string: it must be an object'],
    [{ env: [{ value: 'a' }] }, 'env[0].name is missing: it must be a string'],
    [{ env: [{ name: '' }] }, 'env[0].name is empty: it must be a string'],
    [{ env: [{ name: 5 }] }, 'env[0].name is a number: it must be a string'],
    [
      { env: [{ name: 'A' }, { name: 'B', value: 8080 }] },
      'env[1].value is a number: it must be a string, so put it in quotes',
    ],
    [
      { env: [{ name: 'A', value: true }] },
      'env[0].value is a boolean: it must be a string, so put it in quotes',
    ],
    [
      { env: [{ name: 'A', vaule: 'a' }] },
      'env[0].vaule is not known: there are name, value, valueFrom',
    ],
    [
      { envFrom: [{ configMap: { name: 'a' } }] },
      'envFrom[0].configMap is not known: there are prefix, configMapRef, secretRef',
    ],
    [{ volumes: [{ emptyDir: {} }] }, 'volumes[0].name is missing: it must be a string'],
    [
      { volumeMounts: [{ name: 'v', path: '/v' }] },
      'volumeMounts[0].path is not known: there are name, mountPath, readOnly, recursiveReadOnly, subPath, subPathExpr, mountPropagation',
    ],
    [
      { tolerations: [{ keys: 'a' }] },
      'tolerations[0].keys is not known: there are key, operator, value, effect, tolerationSeconds',
    ],
    [{ resources: { cpu: 1 } }, 'resources.cpu is not known: there are limits, requests, claims'],
    [{ resources: { limits: 1 } }, 'resources.limits is a number: it must be an object'],
    [{ nodeSelector: ['a'] }, 'nodeSelector is a list: it must be an object'],
    [
      { nodeSelector: { ssd: true } },
      'nodeSelector[ssd] is a boolean: it must be a string, so put it in quotes',
    ],
    [
      { affinity: { nodeSelectorTerms: [] } },
      'affinity.nodeSelectorTerms is not known: there are nodeAffinity, podAffinity, podAntiAffinity',
    ],
    [{ affinity: { podAffinity: [] } }, 'affinity.podAffinity is a list: it must be an object'],
    [{ annotations: 'a=b' }, 'annotations is a string: it must be an object'],
  ])('refuses %j', (config, problem) => {
    const message = `parse deployment config: spec.config.${problem}`;
    expect(() => readOverrides(config)).toThrow(new TerminalError(message));
  });

  it.each(['lots', '', '64 Mi', '1.2.3', '64mb', null, {}])('refuses the amount %j', (memory) => {
    const problem = 'resources.limits.memory must be a quantity, such as 500m or 64Mi';
    expect(() => readOverrides({ resources: { limits: { cpu: '1e3', memory } } })).toThrow(
      new TerminalError(`parse deployment config: spec.config.${problem}`),
    );
  });

  // With time that grows with the square of the length, this takes hours.
  it('refuses an amount of a million digits that is none, in the time of reading it', () => {
    const limits = { memory: `${'1'.repeat(1_000_000)}!` };
    expect(() => readOverrides({ resources: { limits } })).toThrow('must be a quantity');
  });

  it.each(['1', '1.', '.5', '-1.5Gi', '+1e3', '100m'])('accepts the amount %s', (cpu) => {
    const resources = { requests: { cpu } };
    expect(readOverrides({ resources })).toEqual({ resources });
  });
});
