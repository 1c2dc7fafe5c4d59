import { InvalidArgumentError } from 'commander';

/** A serving certificate that the webhooks process keeps in a Secret for another process. */
export interface IssuedCertificate {
  readonly secretName: string;
  readonly hosts: readonly string[];
}

/** Reads `<secret>=<host>,<host>…`; repeated flags add up. */
export function parseIssuedCertificate(
  text: string,
  previous: readonly IssuedCertificate[],
): readonly IssuedCertificate[] {
  const [secretName = '', hosts = '', ...rest] = text.split('=');
  const names = hosts.split(',').filter((host) => host !== '');
  if (secretName === '' || names.length === 0 || rest.length > 0) {
    throw new InvalidArgumentError('Give <secret>=<host>[,<host>…].');
  }
  return [...previous, { secretName, hosts: names }];
}
