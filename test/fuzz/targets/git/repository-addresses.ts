import { TerminalError } from '../../../../core/errors.ts';
import { repositoryAddress } from '../../../../core/sources/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

/** Values of git.repository: none may act as an option of a command or as shell syntax. */
export const repositoryAddresses: FuzzTarget = {
  name: 'repository-addresses',
  seeds: [
    'https://example.com/a.git',
    'ssh://git@example.com:2222/~me/a',
    'git@example.com:a/b.git',
    'git@[::1]:a',
    'http://u:p@h/x',
  ],
  words: [
    'ext::',
    'file://',
    '-oProxyCommand=',
    '%0a',
    '%00',
    '%2e',
    '@',
    ':',
    '[',
    ']',
    '~',
    '\\',
    '//',
    '?',
    '#',
    'ssh://',
  ],
  refusals: [TerminalError],
  read(input) {
    const address = repositoryAddress(textOf(input));
    if (address.protocol === 'http') {
      if (!/^https?:$/.test(address.url.protocol))
        throw new Violation('gives a URL of another scheme');
      return;
    }
    const { user, host, path } = address;
    // oxlint-disable-next-line no-control-regex -- what it looks for
    const isOdd = /^-|[\u0000-\u001f\u007f]/;
    if ([user, host, path].some((part) => part === '' || isOdd.test(part))) {
      throw new Violation('gives an address that may be an option');
    }
  },
};
