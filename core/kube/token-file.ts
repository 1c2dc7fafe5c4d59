import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { z } from 'zod';

const usersSchema = z.object({
  users: z.array(
    z.object({ name: z.string(), user: z.object({ tokenFile: z.string().optional() }).nullish() }),
  ),
});

/**
 * The users of a kubeconfig with the field `tokenFile`, which the library does not know under this
 * name: its users would be anonymous. As with kubectl the file wins over `token`, a relative path
 * starts at the kubeconfig, and the file is read again now and then.
 */
export function withTokenFiles(users: readonly User[], kubeconfig: string): User[] {
  const parsed = usersSchema.safeParse(parse(readFileSync(kubeconfig, 'utf8')));
  const entries = parsed.success ? parsed.data.users : [];
  return users.map((user) => {
    const { tokenFile } = entries.find(({ name }) => name === user.name)?.user ?? {};
    if (tokenFile === undefined || tokenFile === '') return user;
    const { token: _, ...rest } = user;
    const config = { tokenFile: resolve(dirname(kubeconfig), tokenFile) };
    return { ...rest, authProvider: { name: 'tokenFile', config } };
  });
}
