import { parseDockerConfig, parseImageReference } from '../../../../core/registry/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';

const references = ['nginx', 'quay.io/a/b', 'localhost:5000/a'].map(parseImageReference);
const secret = 'hunter2';
const auth = Buffer.from(`me:${secret}`).toString('base64');

/** Pull secrets, in both of Docker's formats; no message may quote them. */
export const dockerConfig: FuzzTarget = {
  name: 'docker-config',
  seeds: [
    JSON.stringify({
      auths: {
        'quay.io/a': { auth },
        'https://index.docker.io/v1/': { auth, identitytoken: secret },
      },
      credsStore: 'x',
    }),
    JSON.stringify({
      '*.example.com:5000': { username: 'me', password: secret },
      localhost: { auth },
    }),
  ],
  words: [
    '"auths":',
    '{}',
    'null',
    '"*',
    '*.*',
    '?',
    '[',
    '":{"auth":"',
    'https://',
    '/v1/',
    '"__proto__":{},',
  ],
  refusals: [Error],
  read(input) {
    for (const format of ['config.json', 'dockercfg'] as const) {
      try {
        const keychain = parseDockerConfig(textOf(input), format);
        for (const reference of references) keychain.credentialsFor(reference);
      } catch (error) {
        if (String(error).includes(secret))
          throw new Violation('quotes a password', { cause: error });
        throw error;
      }
    }
  },
};
