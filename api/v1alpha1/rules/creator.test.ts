import { expect, test } from 'vitest';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { annotation } from '../labels.ts';
import { creatorOf } from './creator.ts';

const serviceAccount = { namespace: 'tenant', name: 'installer' };

test.each([
  ['namespace tenant', { serviceAccount }],
  ['namespace tenant', { serviceAccount, changedBy: 'alice' }],
  ['namespace gitops', { changedBy: 'system:serviceaccount:gitops:controller' }],
  ['user alice', { changedBy: 'alice' }],
  ['user system:serviceaccount:x', { changedBy: 'system:serviceaccount:x' }],
  ['deployment demo', {}],
])(
  '%s: %o',
  (creator, {
    serviceAccount: account,
    changedBy,
  }: {
    readonly serviceAccount?: typeof serviceAccount;
    readonly changedBy?: string;
  }) => {
    const annotations = changedBy === undefined ? {} : { [annotation.changedBy]: changedBy };
    const deployment = aStoredDeployment({ metadata: { name: 'demo', annotations } });
    const spec = {
      ...deployment.spec,
      ...(account === undefined ? {} : { serviceAccount: account }),
    };
    expect(creatorOf({ ...deployment, spec })).toBe(creator);
  },
);
