import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { anImage } from '../../../test/helpers/objects.ts';
import {
  aStoredBundle,
  aStoredDeployment,
  aTemplate,
} from '../../../test/helpers/stored-objects.ts';
import { desiredBundle } from '../../bundle-deployment/desired-bundle.ts';
import { sourceAccount } from './unpacking-zone.ts';

const serviceAccount = { namespace: 'team-a', name: 'deployer' };
const stored = aStoredDeployment();
const deployment: BundleDeployment = { ...stored, spec: { ...stored.spec, serviceAccount } };

/** What the deployment's reconciler makes of a template. */
function made(ref: string, of: BundleDeployment = deployment): Bundle {
  const template = aTemplate(ref);
  return desiredBundle({ ...of, spec: { ...of.spec, template } }, templateHash(template));
}

function accountOf(bundle: Bundle, of: BundleDeployment = deployment) {
  return sourceAccount(bundle, { get: ({ name }) => (name === 'demo' ? of : undefined) });
}

test('a Bundle of the deployment’s template has its ServiceAccount', () => {
  expect(accountOf(made('example.com/app:v1'))).toEqual(serviceAccount);
});

test('a revision that the status names has it too', () => {
  const status = { activeBundle: made('example.com/app:v0').metadata.name ?? '' };
  expect(accountOf(made('example.com/app:v0'), { ...deployment, status })).toEqual(serviceAccount);
});

describe('it is not given to', () => {
  test.each<[string, Bundle]>([
    ['a Bundle that nobody owns', aStoredBundle()],
    ['one of another template, with labels, owner and name to match', made('example.com/evil:v1')],
    [
      'one of another source, with labels, owner and name of the template’s',
      {
        ...made('example.com/app:v1'),
        spec: { provisionerClassName: 'plain', source: anImage('x') },
      },
    ],
    [
      'one of an earlier deployment of that name',
      made('example.com/app:v1', aStoredDeployment({ metadata: { uid: 'earlier' } })),
    ],
  ])('%s', (...[, bundle]) => {
    expect(accountOf(bundle)).toBeUndefined();
  });

  test('a Bundle of a deployment that has none', () => {
    expect(accountOf(made('example.com/app:v1'), stored)).toBeUndefined();
  });
});
