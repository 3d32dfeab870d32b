/** The login form: opened by the header, and by itself when the server asks for a login. */

import { useState } from "preact/hooks";
import { login, messageOf } from "../api/client";
import { loginOpen, refreshSession } from "../state";
import { Dialog } from "./dialog";
import { toast } from "./toast";

export function LoginDialog() {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const close = () => {
    loginOpen.value = false;
    setError("");
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    setBusy(true);
    try {
      await login(String(form.get("name")), String(form.get("password")));
      close();
      await refreshSession();
      toast("Logged in", "good");
    } catch (problem) {
      setError(messageOf(problem));
    } finally {
      setBusy(false);
      loginOpen.value = loginOpen.value && !!document.querySelector("dialog[open]");
    }
  };
  return (
    <Dialog title="Log in" open={loginOpen.value} onClose={close}>
      <form class="form" onSubmit={(event) => void submit(event as SubmitEvent)}>
        <label class="field">
          Name
          <input name="name" autocomplete="username" required autofocus />
        </label>
        <label class="field">
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {error && (
          <p class="bad-text" role="alert">
            {error}
          </p>
        )}
        <div class="row end">
          <button type="submit" class="button primary" disabled={busy}>
            Log in
          </button>
        </div>
      </form>
    </Dialog>
  );
}
