import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { VerifyContext } from './check.ts';
import { permissionChecks } from './permissions.ts';

const core = 'ServiceAccount rukpak-system/core-admin';
const unpack = 'ServiceAccount rukpak-system/core-unpack';

/** Rules of the roles of a file of overlays, and of those in a patch of rules. */
function rulesOf(...files: readonly string[]): readonly unknown[] {
  return files.flatMap((file) => {
    const url = new URL(`../../../deploy/overlays/${file}`, import.meta.url);
    return parseAllDocuments(readFileSync(url, 'utf8')).flatMap((document) => {
      const content: unknown = document.toJS();
      const patches = Array.isArray(content) ? content.map((each) => fieldAt(each, 'value')) : [];
      return [...listOf(fieldAt(content, 'rules')), ...patches.flatMap(listOf)];
    });
  });
}

function grants(rule: unknown, need: unknown): boolean {
  const has = (field: string, value: string | undefined) =>
    value !== undefined && listOf(fieldAt(rule, field)).some((each) => each === value);
  const path = stringAt(need, 'path');
  const verb = has('verbs', stringAt(need, 'verb'));
  if (path !== undefined) return verb && has('nonResourceURLs', '/bundles/*');
  const [resource, subresource] = [stringAt(need, 'resource'), stringAt(need, 'subresource')];
  const names = listOf(fieldAt(rule, 'resourceNames'));
  return (
    verb &&
    has('apiGroups', stringAt(need, 'group')) &&
    has('resources', subresource === undefined ? resource : `${resource}/${subresource}`) &&
    (names.length === 0 || names.includes(stringAt(need, 'name')))
  );
}

/** The lines about these accounts where core has these arguments, and they have these rules. */
async function judged(args: readonly string[], rules: readonly unknown[]) {
  const spec = { template: { spec: { containers: [{ name: 'core', args }] } } };
  const client = {
    get: async () => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {}, spec }),
    request: async ({ body }: { readonly body: object }) => {
      const need =
        fieldAt(body, 'spec', 'resourceAttributes') ??
        fieldAt(body, 'spec', 'nonResourceAttributes');
      return { status: { allowed: rules.some((rule) => grants(rule, need)) } };
    },
  };
  const context = { cluster: { client }, systemNamespace: 'rukpak-system' };
  const checks = await permissionChecks(context as unknown as VerifyContext);
  return new Map(checks.map(({ subject, state, message }) => [subject, `${state}: ${message}`]));
}

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

test('overlay impersonation is no installation with too few permissions', async () => {
  const files = ['core-cluster-role-patch.yaml', 'core-rbac.yaml'];
  const rules = rulesOf(...files.map((file) => `impersonation/${file}`));
  const lines = await judged(['core', '--require-service-account'], rules);
  expect(lines.get(core)).toBe('ok: permissions asked about: 8, all granted');
});

test('without that overlay, core needs permissions to install', async () => {
  const lines = await judged(['core'], rulesOf('impersonation/core-cluster-role-patch.yaml'));
  expect(lines.get(core)).toContain('patch deployments.apps, delete customresourcedefinitions');
});

test('overlay split has an account that unpacks', async () => {
  const rules = rulesOf('split/unpack-rbac.yaml');
  expect((await judged(['unpack'], rules)).get(unpack)).toBe(
    'ok: permissions asked about: 6, all granted',
  );
  expect((await judged(['unpack'], everything)).get(unpack)).toMatch(/^failed: may not watch /);
  expect((await judged(['core'], rules)).has(unpack)).toBe(false);
});
