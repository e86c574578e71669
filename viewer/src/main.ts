document.getElementById("app")!.textContent = "abut";
