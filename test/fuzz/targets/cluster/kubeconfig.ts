import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadKubeconfig } from '../../../../core/platform/kube/index.ts';
import { type FuzzTarget, Violation } from '../../fuzz-target.ts';

const secret = 'hunter2hunter2';

/** Kubeconfigs; no message may quote credentials. */
export const kubeconfig: FuzzTarget = {
  name: 'kubeconfig',
  seeds: [
    `apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: c\n  cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: QQ==}\nusers:\n- name: u\n  user:\n    token: ${secret}\n    client-key: key.pem\ncontexts:\n- name: a\n  context: {cluster: c, user: u}\n`,
    `{"current-context":"a","clusters":[{"name":"c","cluster":{"server":"http://h/","proxy-url":"socks5://p","insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"exec":{"command":"x"},"password":"${secret}"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}]}`,
  ],
  words: [
    'users: ',
    '- ',
    'null',
    '&a ',
    '*a',
    '<<: *a',
    '!!binary ',
    '? ',
    'server: ',
    '"',
    `token: [${secret}`,
    '\t',
  ],
  refusals: [Error],
  async read(input) {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-fuzz-kubeconfig-'));
    try {
      const path = join(folder, 'config');
      await writeFile(path, input);
      loadKubeconfig({ kubeconfig: path });
    } catch (error) {
      if (String(error).includes(secret)) throw new Violation('quotes a token', { cause: error });
      throw error;
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
