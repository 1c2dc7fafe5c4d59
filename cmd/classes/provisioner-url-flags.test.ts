import { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  addProvisionerUrlFlags,
  type ProvisionerUrlFlags,
  remoteClasses,
} from './provisioner-flags.ts';

function classes(...args: readonly string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addProvisionerUrlFlags(command);
  return remoteClasses(command.parse(args, { from: 'user' }).opts<ProvisionerUrlFlags>());
}

test('each URL is of one class, with what other flags say of it', () => {
  expect(classes()).toEqual([]);
  expect(
    classes(
      '--provisioner-url=acme=http://acme.acme.svc/a=b',
      '--provisioner-url=other=https://other',
      '--provisioner-url-credentials=other=/etc/other',
      '--provisioner-url-plain-http=acme',
    ),
  ).toEqual([
    {
      className: 'acme',
      url: 'http://acme.acme.svc/a=b',
      credentials: undefined,
      plainHttp: true,
    },
    { className: 'other', url: 'https://other', credentials: '/etc/other', plainHttp: false },
  ]);
});

test.each([
  [['--provisioner-url=https://a'], 'It must have the form <class>=<value>.'],
  [['--provisioner-url==https://a'], 'It must have the form <class>=<value>.'],
  [['--provisioner-url=a='], 'It must have the form <class>=<value>.'],
  [['--provisioner-url=a=https://a', '--provisioner-url=a=https://b'], 'twice for class "a"'],
  [
    ['--provisioner-url=a=https://a', '--provisioner-url-credentials=b=/b'],
    '--provisioner-url-credentials is for class "b", which no --provisioner-url serves',
  ],
  [
    ['--provisioner-url-plain-http=b'],
    '--provisioner-url-plain-http is for class "b", which no --provisioner-url serves',
  ],
])('%j is refused', (args, text) => {
  expect(() => classes(...args)).toThrow(text);
});
