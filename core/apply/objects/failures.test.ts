import { expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { type ApplyFailure, failuresError } from './failures.ts';
import type { Operation } from './operation.ts';

function failed(
  error: unknown,
  action: ApplyFailure['action'] = 'create',
  kind = 'ConfigMap',
): ApplyFailure {
  const resource = { group: '', version: 'v1', kind, plural: 'x', namespaced: true };
  return { object: { resource, key: { namespace: 'n', name: 'c' } }, action, error };
}

function text(operation: Operation, ...failures: ApplyFailure[]): string {
  const error = failuresError(failures, operation);
  expect(error).toBeInstanceOf(TerminalError);
  return error.message;
}

const notFound = new ApiError(404, { message: 'namespaces "x" not found', reason: 'NotFound' });
const invalid = new ApiError(422, { message: 'ConfigMap "c" is invalid: data: bad' });
const denied = new ApiError(403, { message: 'admission webhook "w" denied the request: no' });

test.each([
  ['install', 'InstallFailed'],
  ['upgrade', 'UpgradeFailed'],
  ['reconcile', 'ReconcileFailed'],
] as const)('%s fails with %s', (operation, reason) => {
  expect(failuresError([failed(invalid)], operation)).toMatchObject({ reason });
});

test("the server's words are kept, and the object is named where they do not", () => {
  expect(text('install', failed(invalid))).toBe('ConfigMap "c" is invalid: data: bad');
  expect(text('install', failed(denied))).toBe(
    'ConfigMap "n/c": admission webhook "w" denied the request: no',
  );
});

test('upgrades and repairs say what was tried', () => {
  expect(text('upgrade', failed(denied, 'patch', 'CustomResourceDefinition'))).toBe(
    'cannot patch "c" with kind CustomResourceDefinition: admission webhook "w" denied the request: no',
  );
  expect(text('upgrade', failed(invalid, 'create'))).toBe('ConfigMap "c" is invalid: data: bad');
  expect(text('upgrade', failed(denied, 'delete'))).toMatch(/^cannot delete ConfigMap "n\/c": /);
  expect(text('reconcile', failed(invalid, 'patch'))).toMatch(/^patch error: ConfigMap "c" is/);
});

test('missing things come first and are said once', () => {
  expect(text('install', failed(invalid), failed(notFound), failed(notFound))).toBe(
    'required resource not found: namespaces "x" not found && ConfigMap "c" is invalid: data: bad',
  );
});

test('many failures make a short message', () => {
  const failures = Array.from({ length: 500 }, (_, index) =>
    failed(new ApiError(422, { message: `c${index} is invalid` })),
  );
  expect(text('install', ...failures)).toMatch(/c19 is invalid && 480 more$/);
});

test.each([
  ['an unreachable server', new TypeError('fetch failed')],
  ['an internal error', new ApiError(500, { message: 'failed calling webhook "w"' })],
  ['overload', new ApiError(429, {})],
  ['a conflict', new ApiError(409, { reason: 'Conflict' })],
])('%s is tried again', (_, cause) => {
  const error = failuresError([failed(cause)], 'install');
  expect(error).not.toBeInstanceOf(TerminalError);
  expect(error.message).toContain('create ConfigMap "n/c": ');
  expect(failuresError([failed(cause), failed(invalid)], 'install').message).toBe(invalid.message);
});

test('content of the wrong type is no internal error', () => {
  const message =
    'failed to create typed patch object (n/c; /v1, Kind=ConfigMap): expected map, got &{x}';
  expect(text('install', failed(new ApiError(500, { message })))).toContain(message);
});
