import { describe, expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { collectionPath, objectPath, queryString } from './object-url.ts';

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const roles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

describe('paths', () => {
  test('of collections', () => {
    expect(collectionPath(pods)).toBe('/api/v1/pods');
    expect(collectionPath(pods, 'a')).toBe('/api/v1/namespaces/a/pods');
    expect(collectionPath(roles, 'ignored')).toBe(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    );
  });

  test('of objects', () => {
    expect(objectPath(pods, { namespace: 'a', name: 'b' }, 'status')).toBe(
      '/api/v1/namespaces/a/pods/b/status',
    );
    expect(objectPath(roles, { name: 'system:node?x#y z' })).toBe(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode%3Fx%23y%20z',
    );
  });

  test.each(['', '.', '..', '../..', '../secrets', 'a/b', 'a%2fb'])(
    'refuses the name %j',
    (name) => {
      expect(() => objectPath(roles, { name })).toThrow(TerminalError);
      expect(() => objectPath(pods, { namespace: name, name: 'x' })).toThrow(TerminalError);
    },
  );

  test.each(['', '.', '..', '../..', 'v1/secrets', 'v1%2fsecrets'])(
    'refuses the part %j',
    (part) => {
      for (const field of ['group', 'version', 'plural'] as const) {
        if (field === 'group' && part === '') continue;
        expect(() => collectionPath({ ...roles, [field]: part })).toThrow(TerminalError);
      }
    },
  );

  test('escapes what would be a query', () => {
    const secrets = { ...pods, plural: 'secrets?fieldSelector=metadata.name=a#' };
    expect(collectionPath(secrets)).toBe('/api/v1/secrets%3FfieldSelector%3Dmetadata.name%3Da%23');
  });

  test('names the object that has no namespace', () => {
    expect(() => objectPath(pods, { name: 'web' })).toThrow('Pod "web" has no namespace');
  });
});

describe('queryString', () => {
  test('leaves out what is undefined and escapes the rest', () => {
    expect(queryString({ a: undefined })).toBe('');
    expect(queryString({ labelSelector: 'a in (b,c)&x', limit: 5, force: true })).toBe(
      '?labelSelector=a+in+%28b%2Cc%29%26x&limit=5&force=true',
    );
  });
});
